import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { treeCpu, treeMemory } from './process-cost.ts';

/** An agent that can be measured. */
export interface AgentKind {
  readonly name: string;
  /** A script that becomes the agent; docs/performance.md, "Another agent", has what it is given. */
  readonly script: string;
  /** Where it serves `/pods` and `/metrics` over HTTP: a URL, or nothing where it does so at `$ROOT/rxlet.sock` or not at all. */
  readonly api?: string;
}

/** A running agent with a manifest folder and a root folder of its own. */
export interface AgentProcess {
  readonly manifests: string;
  readonly root: string;
  /** Where its output is. */
  readonly log: string;
  readonly startedAt: number;
  /** Seconds of CPU so far, of it and its children. */
  readonly cpu: () => number;
  /** MiB. */
  readonly memory: () => number;
  /** Rejects when it ends by itself; never resolves. */
  readonly failed: Promise<never>;
  readonly stop: () => Promise<void>;
}

/** Milliseconds from being asked to end to being killed. */
const FAREWELL = 2_500;

/** `prepare` puts manifests into the folder before the agent starts. */
export function startAgent(
  { name, script }: AgentKind,
  socket: string,
  prepare: (manifests: string) => void = () => undefined,
): AgentProcess {
  const base = mkdtempSync(join(process.env['RXLET_NODE'] ?? '/tmp', `bench-${name}-`));
  const [manifests, root, log] = ['manifests', 'root', 'log'].map((each) => join(base, each)) as [
    string,
    string,
    string,
  ];
  mkdirSync(manifests);
  prepare(manifests);
  const startedAt = Date.now();
  const child = spawn('bash', [script], {
    env: { ...process.env, MANIFESTS: manifests, ROOT: root, SOCK: socket, LOG: log },
    stdio: 'ignore',
    detached: true,
  });
  const pid = child.pid ?? 0;
  let isStopped = false;
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (!isStopped) reject(new Error(`${name} ended with ${code ?? String(signal)}; its output is in ${log}`));
    });
  });
  failed.catch(() => undefined); // whoever waits hears of it
  return {
    ...{ manifests, root, log, startedAt, failed },
    cpu: () => treeCpu(pid),
    memory: () => treeMemory(pid),
    async stop() {
      isStopped = true;
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      const end = hasEnded ? Promise.resolve() : once(child, 'exit');
      signal(pid, 'SIGTERM');
      await Promise.race([end, delay(FAREWELL)]);
      signal(pid, 'SIGKILL');
      await end;
    },
  };
}

/** To the whole process group: what it has started goes with it. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name);
  } catch {
    // All of it has ended.
  }
}
