import type { Writable } from 'node:stream';

/** Calls `exit` once all that was written to `output` has been read, or will never be: who pages through it takes his time. */
export function leave(output: Pick<Writable, 'write'>, exit: () => void): void {
  output.write('', () => {
    exit();
  });
}
