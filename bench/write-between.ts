/** The marks of the part of a document that the bench writes. */
const MARKS = { begin: '<!-- bench: begin -->', end: '<!-- bench: end -->' };

/** A document with what stands between its two marks replaced. Throws where it has no such marks. */
export function writeBetween(document: string, text: string): string {
  const begin = document.indexOf(MARKS.begin);
  const end = document.indexOf(MARKS.end);
  if (begin < 0 || end < begin) throw new Error(`there are no lines "${MARKS.begin}" and "${MARKS.end}" in it`);
  return `${document.slice(0, begin + MARKS.begin.length)}\n\n${text}\n\n${document.slice(end)}`;
}
