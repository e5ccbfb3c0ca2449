/**
 * The text of the last lines of a container log in the CRI form (`time stream tag text`), as the container wrote it:
 * at most `maxLines` lines and `maxBytes` bytes, counted from the end. Parts of a line (tag P) are joined.
 */
export function lastLines(log: string, maxLines: number, maxBytes: number): string {
  const lines: string[] = [];
  let open = '';
  for (const raw of log.split('\n')) {
    const match = LINE.exec(raw);
    if (!match) continue; // cut off at the beginning, or the empty end
    open += match.groups?.['text'] ?? '';
    if (match.groups?.['tag'] === 'F') {
      lines.push(`${open}\n`);
      open = '';
    }
  }
  if (open !== '') lines.push(open);
  return lastBytes(lines.slice(-maxLines).join(''), maxBytes);
}

/** The end of a text, in bytes; a character that is cut in half becomes a replacement character. */
function lastBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(bytes.length - maxBytes));
}

/** The beginning of a text, in bytes. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= maxBytes ? text : new TextDecoder().decode(bytes.subarray(0, maxBytes));
}

const LINE = /^\S+ (?:stdout|stderr) (?<tag>[FP])\S* (?<text>.*)$/;
