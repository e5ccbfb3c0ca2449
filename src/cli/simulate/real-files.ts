import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../model/errors.ts';
import type { HostFiles } from '../../simulation/host-files.ts';

/** Logs and termination messages on the disk of this machine. What cannot be written is told once for each file. */
export function realFiles(report: (problem: string) => void): HostFiles {
  const reported = new Set<string>();

  function attempt(path: string, write: () => void): void {
    try {
      write();
      reported.delete(path);
    } catch (error) {
      if (!reported.has(path)) report(`what a container writes is lost: ${messageOf(error)}`);
      reported.add(path);
    }
  }

  return {
    append: (path, text) => {
      attempt(path, () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
        appendFileSync(path, text, { mode: 0o640 });
      });
    },
    overwrite: (path, text) => {
      attempt(path, () => {
        writeFileSync(path, text);
      });
    },
  };
}
