import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeProblem } from '../../model/desired.ts';
import { messageOf } from '../../model/errors.ts';
import { CliError } from '../cli-error.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { decodeScript, emptyScript } from './decode-script.ts';
import type { Script } from './script.ts';

/** The script in a file; without one a node on which nothing goes wrong. Throws a `CliError` that tells what is wrong with it. */
export function readScript(path: string | undefined): Script {
  if (path === undefined) return emptyScript();
  const found = readText(path);
  if ('unreadable' in found) throw new CliError(EXIT_CODES.usage, `${path}: ${found.unreadable}`);
  const folder = dirname(path);
  const { script, problems } = decodeScript(found.text, path, (file) => readText(resolve(folder, file)));
  if (problems.length === 0) return script;
  const lines = problems.map((problem) => `  ${describeProblem(problem)}`);
  throw new CliError(EXIT_CODES.usage, `the script is not valid:\n${lines.join('\n')}`, 'See docs/simulate.md.');
}

function readText(path: string): { readonly text: string } | { readonly unreadable: string } {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { unreadable: `cannot be read: ${messageOf(error)}` };
  }
}
