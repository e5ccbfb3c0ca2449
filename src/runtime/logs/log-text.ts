import type { LogOptions } from '../../model/logs/log-options.ts';
import { isOf, LONGEST_HEAD, recordHead, type RecordHead } from '../../model/logs/log-record.ts';
import { records } from './records.ts';

/** Bytes of one line that are kept until its end is there; of a longer one, what is there is told. */
const LONGEST_LINE = 1024 * 1024;

/** A line of which some parts have been written. */
interface OpenLine {
  readonly time: string;
  parts: Buffer[];
  bytes: number;
  /** Its beginning has been told already. */
  begun: boolean;
}

/**
 * Turns records of a container's log into what the container wrote: parts joined, times before the lines where they
 * are wanted, `skipLines` lines left out. What is no record is left out, too.
 */
export async function* logText(
  chunks: AsyncIterable<Buffer>,
  { timestamps, since, stream }: Pick<LogOptions, 'timestamps' | 'since' | 'stream'>,
  skipLines = 0,
): AsyncGenerator<Buffer> {
  const open = new Map<RecordHead['stream'], OpenLine>();
  let toSkip = skipLines;
  let isBefore = since !== undefined;

  function begins(head: RecordHead): OpenLine | undefined {
    // Once the time has come, a clock that is set back takes nothing away.
    if (isBefore && since !== undefined && Date.parse(head.time) < since) return undefined;
    isBefore = false;
    return { time: head.time, parts: [], bytes: 0, begun: false };
  }

  function take(record: Buffer, out: Buffer[]): void {
    const head = recordHead(record.toString('latin1', 0, LONGEST_HEAD));
    if (!head || !isOf(stream, head.stream)) return;
    if (toSkip > 0) {
      if (!head.partial) toSkip -= 1;
      return;
    }
    const line = open.get(head.stream) ?? begins(head);
    if (!line) return;
    line.parts.push(record.subarray(head.length));
    line.bytes += record.length - head.length;
    if (head.partial) open.set(head.stream, line);
    else open.delete(head.stream);
    if (!head.partial || line.bytes > LONGEST_LINE) tell(line, out, !head.partial);
  }

  function tell(line: OpenLine, out: Buffer[], ends: boolean): void {
    if (timestamps && !line.begun) out.push(Buffer.from(`${line.time} `, 'latin1'));
    out.push(...line.parts);
    if (ends) out.push(NEWLINE);
    Object.assign(line, { parts: [], bytes: 0, begun: true });
  }

  for await (const some of records(chunks)) {
    const out: Buffer[] = [];
    for (const record of some) take(record, out);
    if (out.length > 0) yield Buffer.concat(out);
  }
  const out: Buffer[] = [];
  for (const line of open.values()) tell(line, out, false);
  if (out.length > 0) yield Buffer.concat(out);
}

const NEWLINE = Buffer.from('\n');

/** Ends after so many bytes, wherever that is. */
export async function* upTo(limit: number | undefined, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = limit ?? Infinity;
  if (left <= 0) return;
  for await (const chunk of chunks) {
    yield chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= chunk.length;
    if (left <= 0) return;
  }
}
