import { basename, dirname, join } from 'node:path';

/**
 * A name nobody uses in the directory of `path`: what is made there can be renamed to `path` in one step. Random, as a
 * process before this one may have left something; nothing depends on nobody guessing it, as the folder is ours.
 */
export function beside(path: string): string {
  return join(dirname(path), `.${basename(path)}.${Math.random().toString(16).slice(2)}`);
}
