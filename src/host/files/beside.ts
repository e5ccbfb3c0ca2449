import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

/** A name nobody uses in the directory of `path`: what is made there can be renamed to `path` in one step. */
export function beside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
}
