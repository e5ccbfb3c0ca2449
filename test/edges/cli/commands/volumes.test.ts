import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../../../../src/cli/cli-error.ts';
import { volumes } from '../../../../src/cli/commands/volumes.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';
import { serveAnswers } from './serve-answers.ts';

/** That no real pod of this machine has: who uses a volume is looked for in all processes. */
const CLAIM = `data-${process.pid}`;

let base = '';
let data = '';

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rxlet-volumes-'));
  data = join(base, 'volumes/default', CLAIM);
  mkdirSync(data, { recursive: true });
  mkdirSync(join(base, 'volumes/other/logs'), { recursive: true });
  writeFileSync(join(data, 'file'), 'x'.repeat(10_000));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

async function ask(...argv: readonly string[]): Promise<string> {
  const command = parseCommandLine(['volumes', ...argv, '--root-dir', base]);
  if (command.kind !== 'volumes') throw new Error(JSON.stringify(command));
  return (await lastValueFrom(volumes(command.options).pipe(toArray()))).join('');
}

describe('rxlet volumes', () => {
  const nobody = (): readonly string[] => ['--socket', join(base, 'none.sock')];

  it('lists folders of claims without an agent', async () => {
    const lines = (await ask('ls', ...nobody())).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^NAMESPACE +CLAIM +SIZE +USED BY$/);
    expect(lines[1]).toMatch(/^default +data-\d+ +\d+ KiB +-$/);
    expect(lines[2]).toMatch(/^other +logs +/);
  });

  it('removes what nobody uses, and only that', async () => {
    expect(await ask('rm', CLAIM, ...nobody())).toBe(`default/${CLAIM} removed\n`);
    expect([existsSync(data), existsSync(join(base, 'volumes/other/logs'))]).toEqual([false, true]);
  });

  it('refuses what is not there, and removes nothing then', async () => {
    await expect(ask('rm', CLAIM, 'logs', ...nobody())).rejects.toThrow('there is no volume default/logs');
    expect(existsSync(data)).toBe(true);
  });

  it('refuses while a pod of the agent has it', async () => {
    const pod = {
      metadata: { name: 'db-n1', namespace: 'default', uid: 'u', labels: {}, annotations: {} },
      spec: { containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: CLAIM } }] },
    };
    const socket = join(base, 'agent.sock');
    const close = await serveAnswers(socket, {
      '/rxlet/plan-ground': { rootDir: base, entries: [{ phase: 'syncing', pod }] },
    });
    try {
      expect(await ask('ls', '--socket', socket)).toContain('db-n1');
      await expect(ask('rm', `default/${CLAIM}`, '--socket', socket)).rejects.toThrow(CliError);
      expect(await ask('rm', 'other/logs', '--socket', socket)).toBe('other/logs removed\n');
    } finally {
      close();
    }
    expect(existsSync(data)).toBe(true);
  });
});
