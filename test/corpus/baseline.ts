import type { Measure } from './allowed-differences.ts';
import type { CaseResult } from './compare-case.ts';

/** The cases that are equal, by what was compared. */
export type Baseline = Readonly<Record<Measure, readonly string[]>>;

export const MEASURES: readonly Measure[] = ['specs', 'requests', 'statuses', 'timelines'];

export function baselineOf(results: readonly CaseResult[]): Baseline {
  const equal = (measure: Measure): readonly string[] =>
    results.filter((result) => result.equal[measure]).map(({ id }) => id);
  return {
    specs: equal('specs'),
    requests: equal('requests'),
    statuses: equal('statuses'),
    timelines: equal('timelines'),
  };
}
