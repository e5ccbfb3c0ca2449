export interface TextPart {
  readonly text: string;
  /** Lines of the whole text before this part. */
  readonly line: number;
}

/**
 * Cuts a text before every line that begins a document, so that a quote or bracket left open in one cannot swallow the
 * next: nothing in YAML or JSON reaches over such a line. Directives (`%YAML 1.1`) stay with the document they precede.
 */
export function* splitDocuments(text: string): Generator<TextPart, void> {
  let start = 0;
  let line = 0;
  for (const { index } of text.matchAll(/^---(?=[ \t\r\n]|$)/gm)) {
    const before = text.slice(start, index);
    if (/^%/m.test(before)) continue;
    if (before.trim() !== '') yield { text: before, line };
    line += before.split('\n').length - 1;
    start = index;
  }
  const last = text.slice(start);
  if (last.trim() !== '') yield { text: last, line };
}
