import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RUNTIME_SOCKET } from './private-node.ts';
import { HOST } from './runtime-look.ts';

/** The built command (`npm run build`). */
export const RXLET: string = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

export interface AgentPaths {
  readonly manifests: string;
  readonly root: string;
  readonly socket: string;
  /** Output of all agents that ran with these paths, one after the other. */
  readonly log: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Milliseconds from the signal to the end. */
  readonly took: number;
}

/** A running agent. */
export interface Agent {
  readonly signal: (signal: NodeJS.Signals) => Promise<Exit>;
  readonly hasEnded: () => boolean;
}

/** Starts the agent as a process of its own, as a user would. */
export function startAgent(paths: AgentPaths, flags: readonly string[]): Agent {
  const log = openSync(paths.log, 'a');
  const child = spawn(
    process.execPath,
    [
      RXLET,
      'run',
      `--pod-manifest-path=${paths.manifests}`,
      `--root-dir=${paths.root}`,
      `--socket=${paths.socket}`,
      `--container-runtime-endpoint=unix://${RUNTIME_SOCKET}`,
      `--hostname-override=${HOST}`,
      // However full the disk of the machine is: the tests need the images of their node.
      '--image-gc-high-threshold=100',
      ...flags,
    ],
    { stdio: ['ignore', log, log] },
  );
  closeSync(log);
  const ended = new Promise<Pick<Exit, 'code' | 'signal'>>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
  return {
    async signal(signal) {
      const start = performance.now();
      child.kill(signal);
      return { ...(await ended), took: performance.now() - start };
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
}
