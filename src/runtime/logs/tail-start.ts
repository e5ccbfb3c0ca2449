import type { FileHandle } from 'node:fs/promises';
import type { LogStream } from '../../model/logs/log-options.ts';
import { isOf, LONGEST_HEAD, recordHead } from '../../model/logs/log-record.ts';
import type { OpenPart } from './open-parts.ts';
import { BLOCK, readPart } from './read-part.ts';
import { records } from './records.ts';

/** Where to begin: bytes of a plain part, or lines of a compressed one, that come before what is wanted. */
export interface TailStart {
  /** Index of the part to begin with. */
  readonly part: number;
  readonly skipBytes: number;
  readonly skipLines: number;
}

/**
 * Finds the last `lines` lines of a log over all of its parts. Plain parts are read from their ends, only as far as
 * needed; compressed ones as a whole, since there is no other way.
 */
export async function tailStart(parts: readonly OpenPart[], lines: number, stream: LogStream): Promise<TailStart> {
  let missing = lines;
  for (let part = parts.length - 1; part >= 0; part--) {
    const opened = parts[part];
    if (!opened) continue;
    if (opened.compressed) {
      const counted = await countLines(opened, stream);
      if (counted >= missing) return { part, skipBytes: 0, skipLines: counted - missing };
      missing -= counted;
    } else {
      const { offset, counted } = await seekBack(opened.handle, missing, stream);
      if (counted === missing) return { part, skipBytes: offset, skipLines: 0 };
      missing -= counted;
    }
  }
  return { part: 0, skipBytes: 0, skipLines: 0 };
}

async function countLines(part: OpenPart, stream: LogStream): Promise<number> {
  let counted = 0;
  for await (const some of records(readPart(part))) {
    counted += some.map(headOf).filter((head) => head && !head.partial && isOf(stream, head.stream)).length;
  }
  return counted;
}

interface Sought {
  /** Where the wanted lines begin. */
  readonly offset: number;
  /** How many of them there are; fewer than asked for only where the file has no more. */
  readonly counted: number;
}

async function seekBack(handle: FileHandle, lines: number, stream: LogStream): Promise<Sought> {
  const { size } = await handle.stat();
  if (lines === 0) return { offset: size, counted: 0 };
  let counted = 0;
  let offset = size;
  /** The beginning of the text at `to`, whose record begins before it. */
  let beyond: Buffer = NOTHING;
  for (let to = size, from = 0; to > 0; to = from) {
    from = Math.max(0, to - BLOCK);
    const block = await readBlock(handle, from, to);
    let newline = block.length;
    do {
      const end = newline;
      newline = end === 0 ? -1 : block.lastIndexOf(NEWLINE, end - 1);
      const start = newline + 1;
      const record = Buffer.concat([block.subarray(start, Math.min(end, start + LONGEST_HEAD)), beyond]);
      beyond = NOTHING;
      if (newline === -1 && from > 0) {
        beyond = record.subarray(0, LONGEST_HEAD);
      } else if (record.length > 0) {
        const head = headOf(record);
        // The last line may still wait for its rest.
        const isLine = head !== undefined && isOf(stream, head.stream) && (!head.partial || counted === 0);
        if (isLine && counted === lines) return { offset, counted };
        if (isLine) counted += 1;
        offset = from + start;
      }
    } while (newline !== -1);
  }
  return { offset: 0, counted };
}

const NOTHING: Buffer = Buffer.alloc(0);
const NEWLINE = 0x0a;

async function readBlock(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from);
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

function headOf(record: Buffer): ReturnType<typeof recordHead> {
  return recordHead(record.toString('latin1', 0, LONGEST_HEAD));
}
