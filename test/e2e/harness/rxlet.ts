import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { RXLET } from './agent.ts';

/** How a command has ended, and what it said. */
export interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs, or has ended. */
export interface Running {
  readonly child: ChildProcess;
  /** What it has said so far. */
  readonly soFar: () => Omit<Said, 'code'>;
  readonly ended: Promise<Said>;
}

/** Runs `rxlet` as a user would, against the agent of a node. Ends with the test. */
export function rxlet(socket: string, ...words: readonly string[]): Running {
  const [verb = '', ...rest] = words;
  return command(process.execPath, [RXLET, verb, '--socket', socket, ...rest]);
}

/** Runs any command, with pipes. */
export function command(file: string, words: readonly string[], options: SpawnOptions = {}): Running {
  const child = spawn(file, words, { ...options, stdio: 'pipe' });
  const said = { stdout: '', stderr: '' };
  for (const end of ['stdout', 'stderr'] as const) {
    child[end].setEncoding('utf8').on('data', (text: string) => (said[end] += text));
  }
  child.stdin.on('error', () => undefined);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const ended = new Promise<Said>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code, ...said });
    });
  });
  return { child, soFar: () => said, ended };
}
