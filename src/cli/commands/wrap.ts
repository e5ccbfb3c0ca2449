/** Breaks a sentence at blanks, each line after its indent; a word longer than a line (a path) is left whole. */
export function wrap(text: string, columns: number, first: string, others: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${last === undefined ? first : others}${word}`);
  }
  return lines;
}
