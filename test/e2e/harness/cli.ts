import { execFile, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { RXLET } from './agent.ts';
import type { TestNode } from './test-node.ts';

/** What a command left behind. */
export interface Ran {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

/** A command that goes on until the test ends. */
export interface Running {
  /** What it has printed so far. */
  readonly out: () => string;
}

/** Runs `rxlet` as its own process, against the agent of a node where it is a command that asks one. */
export function rxlet(node: TestNode | undefined, ...args: readonly string[]): Promise<Ran> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [RXLET, ...(node ? withSocket(args, node) : args)],
      { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        done({ code: error === null ? 0 : (error.code ?? String(error.signal)), out, err });
      },
    );
  });
}

/** What follows `--` is not for rxlet. */
function withSocket(args: readonly string[], { paths }: TestNode): readonly string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  return [...args.slice(0, end), `--socket=${paths.socket}`, ...args.slice(end)];
}

export function followRxlet(node: TestNode, ...args: readonly string[]): Running {
  const child = spawn(process.execPath, [RXLET, ...withSocket(args, node)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => (out += chunk));
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { out: () => out };
}
