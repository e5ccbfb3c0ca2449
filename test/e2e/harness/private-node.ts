import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { until } from './until.ts';

/** Where the CRI of this private node answers. */
export const RUNTIME_SOCKET = '/run/containerd/containerd.sock';

/** The folder of the private node on which the tests run (scripts/lib/private-node). */
export function nodeFolder(): string {
  const folder = process.env['RXLET_NODE'];
  if (folder === undefined) throw new Error('e2e tests run on a private node: use `sudo scripts/test e2e [file...]`');
  return folder;
}

/** Kills this node's containerd, as a crash would; what runs in containers goes on. */
export async function killContainerd(): Promise<void> {
  const pid = Number(readFileSync(`${nodeFolder()}/containerd.pid`, 'utf8'));
  process.kill(pid, 'SIGKILL');
  await until('containerd to be dead', () => !isAlive(pid));
}

/** Starts it again; resolves when it answers. */
export async function startContainerd(): Promise<void> {
  await promisify(execFile)(`${nodeFolder()}/start-containerd`);
}

/** Zombies count as dead. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
