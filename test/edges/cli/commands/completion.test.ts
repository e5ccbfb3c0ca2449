import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completion } from '../../../../src/cli/commands/completion.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';

/** CI installs it. */
const HAS_ZSH = process.env['CI'] === 'true' || existsSync('/usr/bin/zsh');

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-tab-'));
  const help = parseCommandLine(['--help']);
  const ps = parseCommandLine(['ps', '--help']);
  writeFileSync(join(folder, 'help'), help.kind === 'help' ? help.text : '');
  writeFileSync(join(folder, 'ps-help'), ps.kind === 'help' ? ps.text : '');
  writeFileSync(join(folder, 'completion.bash'), completion('bash'));
  writeFileSync(join(folder, 'completion.zsh'), completion('zsh'));
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
    expect(offers('r').toSorted()).toEqual(['replay', 'restart', 'run']);
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

  it.runIf(HAS_ZSH)('does the same on Tab in zsh, whose completion system nobody has begun yet', () => {
    expect(tabbed('rxlet describe w')).toBe('rxlet describe web-n1');
    expect(tabbed('rxlet describe data')).toBe('rxlet describe data/db-n1');
    expect(tabbed('rxlet res')).toBe('rxlet restart');
    expect(tabbed('rxlet ps -o y')).toBe('rxlet ps -o yaml');
    expect(tabbed('rxlet ps --w')).toBe('rxlet ps --watch');
    expect(tabbed('rxlet get e')).toBe('rxlet get events');
    expect(tabbed('rxlet describe nobody')).toBe('rxlet describe nobody');
  });
});

/** What stands on the line of an interactive zsh after these keys and Tab. */
function tabbed(typed: string): string {
  const script = `
zmodload zsh/zpty
zpty z env -i TERM=dumb HOME=${folder} PATH=${folder}:/usr/bin:/bin zsh -f -i
zpty -w z 'PS1= PROMPT_EOL_MARK=; unset zle_bracketed_paste; unsetopt beep; source ${folder}/completion.zsh
show() { print -r -- "<<$BUFFER>>"; exit }; zle -N show; bindkey "^G" show; print ready$((1+1))'
zpty -r -m z seen '*ready2*'
zpty -w -n z $'${typed}\\t\\a'
zpty -r -m z seen '*<<*>>*'
print -r -- "$seen"
`;
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8', timeout: 60_000 });
  expect(stderr).toBe('');
  return /<<(.*?)\s*>>/.exec(stdout)?.[1] ?? stdout;
}
