import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Whether this process may mount: root with CAP_SYS_ADMIN, as the agent is. */
export const canMount: boolean = process.getuid?.() === 0 && triesToMount();

/** A folder for one test. At its end everything that is mounted in it is unmounted, and it is removed. */
export function mountGround(): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'rxlet-mounts-')));
  onTestFinished(() => {
    for (const target of mountsIn(base).reverse()) execFileSync('umount', ['-l', target]);
    rmSync(base, { recursive: true, force: true });
  });
  return base;
}

/** What is mounted below a folder, in the order in which it was mounted. */
export function mountsIn(base: string): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((target) => target.startsWith(`${base}/`));
}

function triesToMount(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-try-'));
  try {
    mkdirSync(join(dir, 'm'));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(dir, 'm')], { stdio: 'ignore' });
    execFileSync('umount', [join(dir, 'm')]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
