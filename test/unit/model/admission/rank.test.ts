import { describe, expect, it } from 'vitest';
import { isCritical, isPreemptable, isStatic } from '../../../../src/model/admission/rank.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { podThat } from './nodes.ts';

const from = (source: string, priority?: number): Pod =>
  podThat(priority === undefined ? {} : { priority }, source, source);

describe('isStatic', () => {
  it.each<[rule: string, pod: Pod, is: boolean]>([
    ['is so of a pod from a file', from('file'), true],
    ['is so of a pod from a URL', from('http'), true],
    ['is not so of a pod from the API server', from('api'), false],
  ])('%s', (_rule, pod, is) => {
    expect(isStatic(pod)).toBe(is);
  });
});

describe('isCritical', () => {
  it.each<[rule: string, pod: Pod, is: boolean]>([
    ['is so of every pod of the node, whatever its priority', from('file', -5), true],
    ['is so of a pod with the priority of the system', from('api', 2_000_000_000), true],
    ['is not so of a pod with less than that', from('api', 1_999_999_999), false],
    ['is not so of a pod without a priority', from('api'), false],
  ])('%s', (_rule, pod, is) => {
    expect(isCritical(pod)).toBe(is);
  });
});

describe('isPreemptable', () => {
  it.each<[rule: string, other: Pod, pod: Pod, is: boolean]>([
    ['lets a critical pod end one that is not', from('api'), from('file'), true],
    ['lets a critical pod end one that is not, even of a higher priority', from('api', 7), from('file', 5), true],
    ['lets no pod end a critical one without a priority', from('file'), from('http'), false],
    ['lets a pod end a critical one of a lower priority', from('file', 5), from('http', 6), true],
    ['lets no pod end one of its own priority', from('file', 6), from('http', 6), false],
    ['lets no pod end one of a higher priority', from('file', 7), from('http', 6), false],
    ['lets a pod that is not critical end one of a lower priority', from('api', 5), from('api', 6), true],
  ])('%s', (_rule, other, pod, is) => {
    expect(isPreemptable(other, pod)).toBe(is);
  });
});
