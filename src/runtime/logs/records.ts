/** Bytes of a record that are kept together; what is longer is told in pieces, of which only the first has a head. */
const LONGEST_RECORD = 1024 * 1024;
const NEWLINE = 0x0a;

/** Cuts bytes into records, without the newline at their ends; yields those that a chunk has completed together. */
export async function* records(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const found: Buffer[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      found.push(bytes.subarray(start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LONGEST_RECORD) {
      found.push(rest);
      rest = Buffer.alloc(0);
    }
    if (found.length > 0) yield found;
  }
  if (rest.length > 0) yield [rest];
}
