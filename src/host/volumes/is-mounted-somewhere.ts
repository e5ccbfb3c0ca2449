import { readdirSync, readFileSync } from 'node:fs';
import { defer, of, type Observable } from 'rxjs';

/**
 * Whether a process of this machine, in whatever container, sees a folder as a mount of its own. `tail` is the end of the
 * folder's path: where its file system is mounted does not matter. Emits once.
 */
export function isMountedSomewhere(tail: string): Observable<boolean> {
  return defer(() => of(readdirSync('/proc').some((name) => /^\d+$/.test(name) && sees(name, tail))));
}

function sees(process: string, tail: string): boolean {
  try {
    const lines = readFileSync(`/proc/${process}/mountinfo`, 'utf8').split('\n');
    return lines.some((line) => line.split(' ')[3]?.endsWith(tail) === true);
  } catch {
    return false; // it has just ended
  }
}
