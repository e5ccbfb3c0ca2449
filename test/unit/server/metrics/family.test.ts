import { describe, expect, it } from 'vitest';
import { exposition, gauge, single } from '../../../../src/server/metrics/family.ts';
import { counter, histogram } from '../../../../src/server/metrics/tallies.ts';
import { parseExposition } from '../../../parse-exposition.ts';

describe('exposition', () => {
  it('keeps every label value through the text', () => {
    const value = 'a "quoted" \\ back\\slash, a\nline, {x="y"} and ünïcode';
    const families = parseExposition(
      exposition([gauge('g', 'A "help" \\ with\nlines.', [{ labels: { l: value }, value: 1.5 }])]),
    );
    expect(families.get('g')).toEqual({
      name: 'g',
      help: 'A "help" \\ with\nlines.',
      type: 'gauge',
      samples: [{ name: 'g', labels: { l: value }, value: 1.5 }],
    });
  });

  it('writes large, small and infinite numbers so that they come back', () => {
    for (const value of [0, -1, 1e21, 5e-324, 18_446_744_073_709_552_000, Infinity, -Infinity]) {
      expect(parseExposition(exposition([single('g', 'x', value)])).get('g')?.samples[0]?.value).toBe(value);
    }
  });

  it('leaves out what has no numbers yet', () => {
    expect(exposition([gauge('g', 'x', [])])).toBe('');
  });
});

describe('counter', () => {
  it('adds up by labels, and forgets what is gone', () => {
    const total = counter('a_total', 'x');
    total.add({ kind: 'a' });
    total.add({ kind: 'a' }, 2);
    total.add({ kind: 'b' });
    expect(total.family().samples).toEqual([
      { labels: { kind: 'a' }, value: 3 },
      { labels: { kind: 'b' }, value: 1 },
    ]);
    total.forget(({ kind }) => kind === 'a');
    expect(total.family().samples).toEqual([{ labels: { kind: 'b' }, value: 1 }]);
  });
});

describe('histogram', () => {
  it('counts each value in its bucket and in all wider ones', () => {
    const times = histogram('t_seconds', 'x', [1, 5]);
    for (const value of [0.5, 1, 3, 100]) times.observe({ kind: 'a' }, value);
    const samples = parseExposition(exposition([times.family()])).get('t_seconds')?.samples ?? [];
    expect(samples.map(({ name, labels, value }) => [name, labels['le'], value])).toEqual([
      ['t_seconds_bucket', '1', 2],
      ['t_seconds_bucket', '5', 3],
      ['t_seconds_bucket', '+Inf', 4],
      ['t_seconds_sum', undefined, 104.5],
      ['t_seconds_count', undefined, 4],
    ]);
  });
});

describe('parseExposition', () => {
  it.each([
    ['g 1\n', 'not of the family'],
    ['# HELP g x\n# TYPE g gauge\ng 1', 'not ended'],
    ['# HELP g x\n# TYPE g gauge\ng 1\ng 2\n', 'told twice'],
    ['# HELP g x\n# TYPE g gauge\ng{a="1",a="2"} 1\n', 'twice'],
    ['# HELP g x\n# TYPE g gauge\ng{a="1} 1\n', 'bad labels'],
    ['# HELP g x\n# TYPE g gauge\ng one\n', 'not a number'],
    ['# HELP h x\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n', 'the count is not'],
    [
      '# HELP h x\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
      'do not add up',
    ],
  ])('does not take %j', (text, complaint) => {
    expect(() => parseExposition(text)).toThrow(complaint);
  });
});
