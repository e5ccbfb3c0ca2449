import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { baselineOf, MEASURES, type Baseline } from './baseline.ts';
import { compareCase } from './compare-case.ts';
import { describeGap } from './diff.ts';
import { readCorpus } from './record.ts';

const HERE = import.meta.dirname;
const UPDATE = 'npm run corpus -- test/corpus/cases --summary --baseline test/corpus/baseline.json';

const baseline = JSON.parse(readFileSync(join(HERE, 'baseline.json'), 'utf8')) as Baseline;
const { cases } = readCorpus(join(HERE, 'cases'));
const groups = [...new Set(cases.map(({ record }) => record.case.group))];

describe('the recordings of the kubelet', () => {
  it.each(groups)('are met in group %s at least as well as the baseline says', (group) => {
    const results = cases.filter(({ record }) => record.case.group === group).map(compareCase);
    const equal = baselineOf(results);
    const lost = MEASURES.flatMap((measure) =>
      baseline[measure]
        .filter((id) => id.startsWith(`${group}/`) && !equal[measure].includes(id))
        .map((id) => {
          const { differences = [], problems = [], troubles = [] } = results.find((result) => result.id === id) ?? {};
          const gaps = differences
            .filter((each) => each.measure === measure && each.rule === undefined)
            .map(describeGap);
          return [`${id}: ${measure} were equal`, ...problems, ...troubles, ...gaps].join('\n    ');
        }),
    );
    expect(lost).toEqual([]);
    expect(results.flatMap(({ troubles }) => troubles)).toEqual([]);
  });

  it('are met no better than the baseline says, so that what was won cannot be lost unseen', () => {
    const equal = baselineOf(cases.map(compareCase));
    const won = MEASURES.flatMap((measure) =>
      equal[measure].filter((id) => !baseline[measure].includes(id)).map((id) => `${id}: ${measure}`),
    );
    expect(won, `more cases are equal now: ${UPDATE}`).toEqual([]);
  });
});
