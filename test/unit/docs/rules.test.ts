import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { titlesOf } from './test-titles.ts';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'docs/rules');

interface Row {
  readonly file: string;
  readonly rule: string;
  readonly test: string;
  readonly title: string;
}

describe('docs/rules', () => {
  const rows = readdirSync(folder)
    .filter((file) => file !== 'README.md')
    .flatMap((file) => rowsOf(file, readFileSync(join(folder, file), 'utf8')));

  it('names for every rule a test file that exists', () => {
    const lost = rows.filter(({ test }) => !existsSync(join(root, test)));
    expect(lost).toEqual([]);
  });

  it('names for every rule a test of that title', () => {
    const lost = rows.filter(({ test, title }) => existsSync(join(root, test)) && !titlesIn(test).has(title));
    expect(lost).toEqual([]);
  });

  it('tells rules in each of its documents', () => {
    const files = readdirSync(folder).filter((file) => file !== 'README.md');
    expect(files.filter((file) => !rows.some((row) => row.file === file))).toEqual([]);
  });

  it('tells no rule twice', () => {
    const told = rows.map(({ rule }) => rule);
    expect(told.filter((rule, index) => told.indexOf(rule) !== index)).toEqual([]);
  });
});

/** The rows `| rule | file › title |` of one document. */
function rowsOf(file: string, text: string): readonly Row[] {
  return text
    .split('\n')
    .filter((line) => /^\| (?!Rule|---|:--)/.test(line))
    .map((line) => {
      const cells = line.slice(2, -2).split(' | ');
      const [test = '', ...title] = (cells.at(-1) ?? '').split(' › ');
      return { file, rule: cells[0] ?? '', test: test.trim(), title: title.join(' › ').trim() };
    });
}

const known = new Map<string, ReadonlySet<string>>();

function titlesIn(file: string): ReadonlySet<string> {
  const titles = known.get(file) ?? titlesOf(readFileSync(join(root, file), 'utf8'));
  known.set(file, titles);
  return titles;
}
