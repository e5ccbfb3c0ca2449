import type { FileHandle } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { pipeline, Readable } from 'node:stream';
import type { OpenPart } from './open-parts.ts';

/** Bytes that are read at a time. */
export const BLOCK: number = 64 * 1024;

/** The bytes of a plain file from a place to its present end. */
export async function* readFrom(handle: FileHandle, start: number): AsyncGenerator<Buffer> {
  for (let position = start; ;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(BLOCK), 0, BLOCK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** What was written to a part, compressed or not. */
export async function* readPart({ handle, compressed }: OpenPart): AsyncGenerator<Buffer> {
  if (!compressed) {
    yield* readFrom(handle, 0);
    return;
  }
  const text = createGunzip();
  // What goes wrong shows in `text`, which is read below.
  pipeline(Readable.from(readFrom(handle, 0), { objectMode: false }), text, () => undefined);
  for await (const chunk of text) yield chunk as Buffer;
}
