import { Writable } from 'node:stream';

/** Passes on to an output that others write to as well: it is not ended, and its speed is that of the whole. */
export function writeThrough(output: Writable): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      output.write(chunk, (error) => {
        done(error);
      });
    },
  });
}
