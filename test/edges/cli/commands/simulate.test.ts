import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { lastValueFrom, materialize, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { client } from '../../../../src/cli/client.ts';
import { CliError } from '../../../../src/cli/cli-error.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';
import type { Outcome } from '../../../../src/cli/simulate/outcome.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-simulate-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const manifest = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n  - {name: app, image: busybox:1.35}\n`;

interface Said {
  readonly text: string;
  readonly exitCode: number;
  readonly complaint: string;
}

/** What the command line prints, and what it ends with. */
async function rxlet(args: readonly string[], stdin = ''): Promise<Said> {
  const command = parseCommandLine(args);
  if (command.kind === 'error') return { text: '', exitCode: command.exitCode, complaint: command.message };
  if (command.kind !== 'simulate') throw new Error(`no simulation: ${command.kind}`);
  const terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
  const ports = { terminal: () => terminal, stdin: () => Readable.from([stdin]) };
  const told = await lastValueFrom(client(command, ports).pipe(materialize(), toArray()));
  const text = told.map((one) => (one.kind === 'N' ? one.value : '')).join('');
  const error: unknown = told.map((one) => (one.kind === 'E' ? (one.error as unknown) : undefined)).at(-1);
  if (error !== undefined && !(error instanceof CliError)) throw new Error('not for people', { cause: error });
  return { text, exitCode: error?.exitCode ?? 0, complaint: error?.message ?? '' };
}

describe('rxlet simulate', () => {
  it('runs the pods of a folder, and ends with 0 where nothing is expected otherwise', async () => {
    put('web.yaml', manifest('web'));
    put('bad.yaml', manifest('Bad'));
    const { text, exitCode } = await rxlet(['simulate', folder, '--for', '2m']);
    expect(exitCode).toBe(0);
    expect(text).toContain('web-node: Running, ready, 0 restarts');
    expect(text).toContain(`${join(folder, 'bad.yaml')}:3:`);
  });

  it('takes a manifest from standard input', async () => {
    const { text } = await rxlet(['simulate', '-', '--for', '1m'], manifest('piped'));
    expect(text).toContain('piped-node: Running, ready');
  });

  it('ends with 1 where something is not as expected, and says what and where', async () => {
    const file = put('web.yaml', manifest('web'));
    const script = put('s', 'expect:\n- {pod: web, restarts: 0}\n- {pod: web, ready: false}\n');
    const { text, exitCode, complaint } = await rxlet(['simulate', file, '--script', script, '--for', '2m']);
    expect(exitCode).toBe(1);
    expect(complaint).toBe('1 of 2 expectations not met');
    expect(text).toMatch(/met +2m +pod web: restarts 0\n/);
    expect(text).toMatch(/not met +2m +pod web: not ready \(line 3\): ready/);
  });

  it('prints one JSON object with -o json', async () => {
    const file = put('web.yaml', manifest('web'));
    const script = put('s', 'for: 3m\nseed: 5\ncontainers: [{exits: [{after: 10s, code: 2}]}]\n');
    const { text } = await rxlet(['simulate', file, '--script', script, '-o', 'json']);
    const outcome = JSON.parse(text) as Outcome;
    expect(outcome).toMatchObject({ seed: 5, seconds: 180, problems: [], steps: [], expectations: [] });
    expect(outcome.pods).toMatchObject([
      { namespace: 'default', name: 'web-node', phase: 'Running', ready: true, restarts: 1, ends: [{ exitCode: 2 }] },
    ]);
    expect(outcome.agent).toEqual([{ from: 0 }]);
    expect(outcome.calls['StartContainer']).toBe(2);
  });

  it('prefers what the command line says to what the script says', async () => {
    const file = put('web.yaml', manifest('web'));
    const script = put('s', 'for: 3m\nseed: 5\n');
    const { text } = await rxlet(['simulate', file, '--script', script, '--for', '1m', '--seed', '6']);
    expect(text).toMatch(/^1m with seed 6: 1 pod, /);
  });

  it('runs by the configuration that it is given', async () => {
    const file = put('web.yaml', manifest('web'));
    const config = put(
      'kubelet.conf',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncrashLoopBackOff: {maxContainerRestartPeriod: 10s}\n',
    );
    const script = put('s', 'for: 10m\ncontainers: [{exits: {after: 1s, code: 1}}]\n');
    const [plain, short] = [
      await rxlet(['simulate', file, '--script', script, '-o', 'json']),
      await rxlet(['simulate', file, '--script', script, '-o', 'json', '--config', config]),
    ].map(({ text }) => (JSON.parse(text) as Outcome).pods[0]?.restarts ?? 0);
    expect(plain).toBeLessThan(10);
    expect(short).toBeGreaterThan(40);
  });

  it('says the same to the bit for the same seed, and something else for another where dice are thrown', async () => {
    const file = put('web.yaml', manifest('web'));
    const script = put('s', 'for: 10m\ndice: {fail: 0.1, slow: 0.2}\n');
    const run = (seed: string): Promise<Said> =>
      rxlet(['simulate', file, '--script', script, '--seed', seed, '-o', 'json']);
    const [one, same, other] = [await run('3'), await run('3'), await run('4')];
    expect(same.text).toBe(one.text);
    expect(other.text.replace('"seed": 4', '"seed": 3')).not.toBe(one.text);
  });

  it('ends with 2 where the script is not valid, with file, line, column and field of each mistake', async () => {
    const file = put('web.yaml', manifest('web'));
    const script = put('s', 'for: 3m\nsteps:\n- {at: 1m, rebot: {}}\n- {at: soon, reboot: {}}\n');
    const { text, exitCode, complaint } = await rxlet(['simulate', file, '--script', script]);
    expect([text, exitCode]).toEqual(['', 2]);
    expect(complaint).toContain(`${script}:3:12: steps[0].rebot: unknown field, did you mean reboot?`);
    expect(complaint).toContain(`${script}:4:4: steps[1].at: must be a duration`);
  });

  it.each([
    ['there is no manifest', ['simulate', '/no/such.yaml'], '/no/such.yaml: there is no such file or directory'],
    ['there is no script', ['simulate', '.', '--script', '/no/such'], '/no/such: cannot be read'],
    ['there is no configuration', ['simulate', 'examples', '--config', '/no/such'], '/no/such: cannot be read'],
    ['the duration is none', ['simulate', '.', '--for', 'long'], 'It is a duration above 0'],
    ['the duration is too long', ['simulate', '.', '--for', '9000h'], 'It is a duration above 0'],
    ['the seed is none', ['simulate', '.', '--seed', 'x'], 'It is a whole number'],
    ['there are no paths', ['simulate'], "missing required argument 'path'"],
  ])('ends with 2 where %s', async (_name, args, complaint) => {
    const said = await rxlet(args);
    expect(said.exitCode).toBe(2);
    expect(said.complaint).toContain(complaint);
  });
});
