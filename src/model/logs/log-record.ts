import type { LogStream } from './log-options.ts';

/** What stands before the text of a line in a container's log: `2026-01-02T15:04:05.123456789Z stdout F text`. */
export interface RecordHead {
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  /** The line goes on in the next record of its stream. */
  readonly partial: boolean;
  /** Bytes before the text. */
  readonly length: number;
}

/** Bytes within which every head ends: the longest time, a stream and tags. */
export const LONGEST_HEAD = 128;

const HEAD = /^(?<time>\S+) (?<stream>stdout|stderr) (?<tag>[FP])\S*(?: |$)/;

/** Reads the head of a record from its first {@link LONGEST_HEAD} bytes, as text of one byte per character. */
export function recordHead(text: string): RecordHead | undefined {
  const match = HEAD.exec(text);
  const { time, stream, tag } = match?.groups ?? {};
  if (!match || time === undefined) return undefined;
  return { time, stream: stream === 'stderr' ? 'stderr' : 'stdout', partial: tag === 'P', length: match[0].length };
}

export function isOf(wanted: LogStream, stream: RecordHead['stream']): boolean {
  return wanted === 'All' || wanted.toLowerCase() === stream;
}
