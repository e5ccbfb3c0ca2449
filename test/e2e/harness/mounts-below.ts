import { readFileSync } from 'node:fs';

/** What is mounted below a folder, in the order in which it was mounted. */
export function mountsBelow(folder: string): readonly string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((target) => target.startsWith(`${folder}/`));
}
