import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completion } from '../../../../src/cli/commands/completion.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-tab-'));
  const help = parseCommandLine(['--help']);
  const ps = parseCommandLine(['ps', '--help']);
  writeFileSync(join(folder, 'help'), help.kind === 'help' ? help.text : '');
  writeFileSync(join(folder, 'ps-help'), ps.kind === 'help' ? ps.text : '');
  writeFileSync(join(folder, 'completion.bash'), completion('bash'));
  const answers = [
    '#!/bin/sh',
    'case "$*" in',
    `"--help") cat ${folder}/help ;;`,
    `"ps --help") cat ${folder}/ps-help ;;`,
    '"ps -o name") printf "default/web-n1\\ndata/db-n1\\n" ;;',
    '*) echo "rxlet: no agent is running" >&2; exit 4 ;;',
    'esac',
  ];
  writeFileSync(join(folder, 'rxlet'), `${answers.join('\n')}\n`);
  chmodSync(join(folder, 'rxlet'), 0o755);
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** What Tab offers in bash after these words. */
function offers(...words: readonly string[]): readonly string[] {
  const list = words.map((word) => `'${word}'`).join(' ');
  const script = `source ${folder}/completion.bash; COMP_WORDS=(rxlet ${list}); COMP_CWORD=${words.length}; _rxlet; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile', '-c', script], {
    encoding: 'utf8',
    env: { PATH: `${folder}:/usr/bin:/bin` },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
  it('offers every command', () => {
    expect(offers('')).toEqual(
      expect.arrayContaining([
        'run',
        'ps',
        'get',
        'describe',
        'events',
        'problems',
        'stop',
        'plan',
        'validate',
        'logs',
        'port-forward',
      ]),
    );
    expect(offers('r').toSorted()).toEqual(['restart', 'run']);
    expect(offers('st').toSorted()).toEqual(['start', 'stop']);
  });

  it('offers the pods of the agent, and options', () => {
    expect(offers('describe', '')).toEqual(['web-n1', 'data/db-n1']);
    expect(offers('stop', 'w')).toEqual(['web-n1']);
    expect(offers('ps', '-o', 'y')).toEqual(['yaml']);
    expect(offers('ps', '--w')).toEqual(['--watch']);
    expect(offers('get', '')).toEqual(['pods', 'events']);
    expect(offers('completion', '')).toEqual(['bash', 'zsh']);
  });

  it('is silent where there is nothing to offer', () => {
    writeFileSync(join(folder, 'rxlet'), '#!/bin/sh\necho "no agent" >&2; exit 4\n');
    expect(offers('describe', '')).toEqual([]);
  });

  it('is the same for zsh, by its emulation of bash', () => {
    expect(completion('zsh')).toMatch(/^autoload -U \+X bashcompinit && bashcompinit\n/);
    expect(completion('zsh')).toContain(completion('bash'));
  });
});
