import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RXLET } from './harness/agent.ts';
import { isAsTold, readGuide, type GuideStep } from './harness/guide.ts';
import { mountsBelow } from './harness/mounts-below.ts';
import { nodeFolder } from './harness/private-node.ts';
import { lookAtRuntime } from './harness/runtime-look.ts';
import { until } from './harness/until.ts';

const GUIDE = new URL('../../docs/standalone.md', import.meta.url);
const UNIT = new URL('../../packaging/rxlet.service', import.meta.url);

/** What is done to the machine itself, which the private node on which this runs has behind it. */
const OF_THE_MACHINE = ['1. Install', '7. Keep it running'];

test('the guide for one machine holds, file by file and command by command', async () => {
  const shell = await emptyMachine();
  const parts = readGuide(readFileSync(GUIDE, 'utf8').replaceAll('myhost', hostname()));
  expect(parts.map(({ title }) => title)).toEqual([
    '1. Install',
    '2. Start the agent',
    '3. A web server',
    '4. A database with a password',
    '5. A job',
    '6. Look around, and take away',
    '7. Keep it running',
  ]);
  for (const step of parts.flatMap(({ title, steps }) => (OF_THE_MACHINE.includes(title) ? [] : steps))) {
    await follow(step, shell);
  }
});

test('the service of the package starts the agent as the guide does', () => {
  const steps = readGuide(readFileSync(GUIDE, 'utf8')).flatMap((part) => part.steps);
  const [started] = steps.flatMap((step) => (step.kind === 'background' ? [step.command] : []));
  expect(readFileSync(UNIT, 'utf8')).toContain(`\nExecStart=/usr/local/bin/${started ?? '(nothing)'}\n`);
});

interface Shell {
  /** Resolves to what is printed; an exit code beside 0 is told with it. */
  readonly run: (command: string) => Promise<string>;
  readonly begin: (command: string) => void;
}

async function follow(step: GuideStep, shell: Shell): Promise<void> {
  switch (step.kind) {
    case 'file':
      writeFileSync(step.path, step.text);
      return;
    case 'background':
      shell.begin(step.command);
      return;
    case 'command': {
      // As for a reader, it may take a moment until what is told is so.
      let last = '';
      try {
        await until(`what is told of: ${step.command}`, async () => {
          last = await shell.run(step.command);
          return isAsTold(last, step.output);
        });
      } catch (error: unknown) {
        throw new Error(`${step.command}\n--- is told to print\n${step.output.join('\n')}\n--- and prints\n${last}`, {
          cause: error,
        });
      }
    }
  }
}

/** A machine on which nothing runs, and nothing of which is left: own `/etc/rxlet`, `rxlet` in the path. */
async function emptyMachine(): Promise<Shell> {
  const folder = join(nodeFolder(), 'guide');
  const bin = join(folder, 'bin');
  const log = join(folder, 'agent.log');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'rxlet'), `#!/bin/sh\nexec '${process.execPath}' '${RXLET}' "$@"\n`, { mode: 0o755 });
  const runtime = lookAtRuntime();
  await runtime.wipe();

  // Only the mounts of this node are its own: what is below /etc is the machine's, and other nodes follow the guide too.
  await alone('/etc');
  const isOurs = !existsSync('/etc/rxlet');
  if (isOurs) mkdirSync('/etc/rxlet');
  execFileSync('mount', ['-t', 'tmpfs', 'rxlet-guide', '/etc/rxlet']);

  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const begun: { readonly end: () => Promise<void> }[] = [];
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail' && existsSync(log)) console.error(readFileSync(log, 'utf8'));
    for (const { end } of begun) await end();
    await runtime.wipe();
    runtime.close();
    for (const target of mountsBelow('/var/lib/rxlet').toReversed()) execFileSync('umount', ['-l', target]);
    execFileSync('umount', ['/etc/rxlet']);
    if (isOurs) rmdirSync('/etc/rxlet');
    for (const path of [folder, '/var/lib/notes', '/var/lib/notes-backup'])
      rmSync(path, { recursive: true, force: true });
  });
  return {
    run: (command) =>
      new Promise((done) => {
        execFile('bash', ['-c', command], { env, timeout: 60_000 }, (error, out, complaint) => {
          done(error ? `${out}${complaint}(ended with ${error.code ?? error.signal ?? '?'})` : out);
        });
      }),
    begin(command) {
      const child = spawn('bash', ['-c', `exec ${command} >>'${log}' 2>&1`], { env, stdio: 'ignore' });
      const ended = new Promise<void>((done) =>
        child.once('exit', () => {
          done();
        }),
      );
      begun.push({
        async end() {
          child.kill('SIGKILL');
          await ended;
        },
      });
    },
  };
}

/** Waits until no other node is at work on a folder of the machine, and keeps the others waiting until the test ends. */
async function alone(folder: string): Promise<void> {
  const lock = spawn('flock', [folder, 'sh', '-c', 'echo mine; exec sleep infinity'], { detached: true });
  const released = new Promise((done) => lock.once('exit', done));
  onTestFinished(async () => {
    if (lock.pid !== undefined) process.kill(-lock.pid, 'SIGKILL');
    await released;
  });
  await new Promise((mine, failed) => {
    lock.stdout.once('data', mine);
    lock.once('error', failed);
  });
}
