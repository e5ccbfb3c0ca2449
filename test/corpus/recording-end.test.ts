import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareCase } from './compare-case.ts';
import { readCorpus } from './record.ts';
import { recordingEnd, type Beginning } from './recording-end.ts';

const life = (...states: readonly (readonly [state: string, from: number])[]): readonly Beginning[] =>
  states.map(([state, from]) => ({ state, from }));

describe('recordingEnd', () => {
  it.each<[what: string, theirs: readonly Beginning[], ours: readonly Beginning[], end: number]>([
    ['lets the last state last as long as at the recording', life(['a', 4], ['b', 14]), life(['a', 1], ['b', 5]), 11],
    ['is where the recording ended, for a life as slow', life(['a', 4], ['b', 14]), life(['a', 4], ['b', 14]), 20],
    ['is never after it', life(['a', 4], ['b', 14]), life(['a', 9], ['b', 19]), 20],
    ['takes states in their turn', life(['a', 0], ['b', 8], ['a', 12]), life(['a', 0], ['b', 2], ['a', 3]), 11],
    ['excuses nobody who went another way', life(['a', 0], ['b', 8]), life(['a', 0], ['c', 2], ['d', 3]), 20],
    ['excuses nobody who did less', life(['a', 0], ['b', 8]), life(['a', 0]), 20],
    ['is where the recording ended, if that saw nothing', [], life(['a', 0]), 20],
  ])('%s', (_what, theirs, ours, end) => {
    expect(recordingEnd(theirs, ours, 20)).toBe(end);
  });
});

const { cases } = readCorpus(join(import.meta.dirname, 'cases'));

/** What is no longer equal when our agent is given another manifest than the kubelet was. */
function brokenBy(id: string, from: string, to: string): readonly string[] {
  const corpusCase = cases.find((each) => each.id === id);
  if (!corpusCase) throw new Error(`there is no case ${id}`);
  const manifests = new Map(
    [...corpusCase.manifests].map(([name, bytes]) => [name, Buffer.from(bytes.toString().replace(from, to))]),
  );
  const { equal } = compareCase({ ...corpusCase, manifests });
  return (['requests', 'statuses', 'timelines'] as const).filter((measure) => !equal[measure]);
}

describe('what a recording finds out though it ends early', () => {
  it.each([
    ['probes/02-liveness-exec-fail', 'failureThreshold: 2', 'failureThreshold: 1'],
    ['probes/02-liveness-exec-fail', 'failureThreshold: 2', 'failureThreshold: 3'],
    ['probes/02-liveness-exec-fail', 'periodSeconds: 1', 'periodSeconds: 10'],
    ['probes/05-startup-fail', 'failureThreshold: 3', 'failureThreshold: 2'],
    ['probes/05-startup-fail', 'failureThreshold: 3', 'failureThreshold: 4'],
    ['probes/14-probe-grace', 'failureThreshold: 1,', 'failureThreshold: 2,'],
    ['probes/14-probe-grace', 'terminationGracePeriodSeconds: 2}', 'terminationGracePeriodSeconds: 4}'],
    ['probes/23-liveness-prestop', 'failureThreshold: 1', 'failureThreshold: 2'],
    ['sidecars/08-liveness', 'failureThreshold: 2', 'failureThreshold: 1'],
    ['sidecars/08-liveness', 'failureThreshold: 2', 'failureThreshold: 3'],
  ])('in %s, %s taken for %s', (id, from, to) => {
    expect(brokenBy(id, from, from)).toEqual([]);
    expect(brokenBy(id, from, to)).not.toEqual([]);
  });
});
