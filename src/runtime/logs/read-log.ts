import { Readable } from 'node:stream';
import type { LogOptions } from '../../model/logs/log-options.ts';
import { followParts, newestOf, type FollowSignals } from './follow-parts.ts';
import { logText, upTo } from './log-text.ts';
import { closeAll, openParts, type OpenPart } from './open-parts.ts';
import { readFrom, readPart } from './read-part.ts';
import { tailStart, type TailStart } from './tail-start.ts';

/**
 * The log at a path as a stream of bytes, over all of its rotated parts. With `follow` it ends when `ended` and all
 * is read; destroying it closes the files. Errors where there is no log.
 *
 * Never holds more than some blocks and one line (of at most 1 MiB) per stream, however large the log is.
 */
export function readLog(path: string, options: LogOptions, ended: AbortSignal): Readable {
  const leaving = new AbortController();
  return readable(upTo(options.limitBytes, text(path, options, { ended, left: leaving.signal })), leaving);
}

/** `Readable.from` would wait for the next chunk before it lets go of the files, and that may never come. */
function readable(chunks: AsyncGenerator<Buffer>, leaving: AbortController): Readable {
  const stream = new Readable({
    read() {
      chunks.next().then(
        ({ done, value }) => stream.push(done === true ? null : value),
        (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    },
    destroy(error, done) {
      leaving.abort();
      chunks.return(undefined).then(
        () => {
          done(error);
        },
        () => {
          done(error);
        },
      );
    },
  });
  return stream;
}

async function* text(path: string, options: LogOptions, signals: FollowSignals): AsyncGenerator<Buffer> {
  const opened = await openParts(path, () => true);
  if (opened.length === 0) throw new Error(`there is no log at ${path}`);
  try {
    const { since, tailLines, stream, follow } = options;
    const parts = since === undefined ? opened : await notBefore(opened, since);
    const start =
      tailLines === undefined ? { part: 0, skipBytes: 0, skipLines: 0 } : await tailStart(parts, tailLines, stream);
    const bytes = bytesOf(parts, start, (position) =>
      follow ? followParts(path, parts, position, newestOf(opened, ''), signals) : undefined,
    );
    yield* logText(bytes, options, start.skipLines);
  } finally {
    await closeAll(opened);
  }
}

/** The parts from where it begins, and `then` what follows the place at which reading has ended. */
async function* bytesOf(
  parts: readonly OpenPart[],
  { part: first, skipBytes }: TailStart,
  then: (position: number) => AsyncGenerator<Buffer> | undefined,
): AsyncGenerator<Buffer> {
  let position = 0;
  for (const [index, part] of parts.entries()) {
    if (index < first) continue;
    position = index === first ? skipBytes : 0;
    const bytes = part.compressed ? readPart(part) : readFrom(part.handle, position);
    for await (const chunk of bytes) {
      position += chunk.length;
      yield chunk;
    }
  }
  const more = then(position);
  if (more) yield* more;
}

/** A part that was written for the last time before that moment has nothing to tell. */
async function notBefore(parts: readonly OpenPart[], since: number): Promise<readonly OpenPart[]> {
  const times = await Promise.all(parts.map(async ({ handle }) => (await handle.stat()).mtimeMs));
  const first = times.findIndex((time) => time >= since);
  // The present one is kept for whoever follows.
  return first === -1 ? parts.slice(-1) : parts.slice(first);
}
