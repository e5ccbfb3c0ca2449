import { describe, expect, test } from 'vitest';
import { markdownTables, plainTables } from '../../../bench/print-tables.ts';
import { FLOOR, type Sample } from '../../../bench/sample.ts';
import { tablesOf } from '../../../bench/tables.ts';

function story(agent: string, values: Readonly<Record<string, number>>): Sample {
  return { part: 'story', agent, pods: 60, values };
}

const SAMPLES: readonly Sample[] = [
  story(FLOOR, { up_one: 480, up_all: 29_000 }),
  story(FLOOR, { up_one: 500, up_all: 29_300 }),
  story(FLOOR, { up_one: 1_900, up_all: 31_000 }),
  story('rxlet', { boot: 800, up_one: 510, up_all: 29_400, up_all_cpu: 2.345 }),
  story('rxlet', { boot: 810, up_one: 520, up_all: 29_800, up_all_cpu: 2.4 }),
  { ...story('rxlet', { boot: 900 }), error: 'waited in vain' },
];

describe('tablesOf', () => {
  test('shows medians, their share of the floor and what rxlet wants to reach', () => {
    const [table, ...others] = tablesOf({ runtime: '2', version: 'containerd v2.1.9', samples: SAMPLES });
    const row = (start: string): readonly string[] | undefined =>
      table?.rows.find(([title]) => title?.startsWith(start));

    expect(others).toEqual([]);
    expect(table?.title).toBe('containerd v2.1.9: the story of N = 60 (median of 3)');
    expect(table?.head).toEqual(['', 'floor', 'rxlet', '/ floor', 'goal']);
    expect(row('manifest dropped')?.slice(1)).toEqual(['500 ms', '520 ms', '1.04', '≤ 1.10 × floor']);
    expect(row("agent's CPU")?.slice(1)).toEqual(['–', '2.40 s', '', '≤ 2.5 s']);
  });

  test('divides a start by what one pod costs', () => {
    const [table] = tablesOf({ runtime: '2', version: 'containerd v2.1.9', samples: SAMPLES });

    expect(table?.rows[0]?.slice(1)).toEqual(['–', '810 ms', '1.62', '≤ 2.0 × floor']);
  });

  test('has a table of its own for each number of pods, without a floor where there is none', () => {
    const idle = (pods: number): Sample => ({ part: 'idle', agent: 'rxlet', pods, values: { calls_per_minute: pods } });
    const tables = tablesOf({ runtime: '2', version: 'containerd v2.1.9', samples: [idle(0), idle(12)] });

    expect(tables.map(({ head }) => head)).toEqual([
      ['', 'rxlet'],
      ['', 'rxlet'],
    ]);
    expect(tables[1]?.rows[1]).toEqual(['CRI calls', '12.0/min']);
  });
});

describe('plainTables', () => {
  test('aligns columns', () => {
    expect(plainTables([{ title: 'T', head: ['', 'floor', 'x'], rows: [['row', '1 ms', '2']] }])).toBe(
      ['T', '     floor  x', 'row   1 ms  2'].join('\n'),
    );
  });
});

describe('markdownTables', () => {
  test('makes tables that a document shows', () => {
    expect(markdownTables([{ title: 'T', head: ['', 'x'], rows: [['row', '2']] }])).toBe(
      ['**T**', '', '|  | x |', '| --- | ---: |', '| row | 2 |'].join('\n'),
    );
  });
});
