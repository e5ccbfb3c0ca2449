import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resourceValue } from '../../../../src/model/env/resource-value.ts';
import type { PodSpec } from '../../../../src/model/pod.ts';

const MAIN = {
  name: 'main',
  resources: {
    requests: { cpu: '150m', memory: '50Mi', 'ephemeral-storage': '10Mi', 'hugepages-2Mi': '4Mi' },
    limits: { cpu: '1250m', memory: '100000001', 'ephemeral-storage': '30Mi' },
  },
};
const BARE = { name: 'bare' };
const SPEC: PodSpec = { containers: [MAIN, BARE], initContainers: [{ name: 'init' }] };
const ALLOCATABLE = { cpu: '1900m', memory: '2Gi', 'ephemeral-storage': '9Gi' };

const value = (text: string): object => ({ kind: 'value', text });

describe('resourceValue', () => {
  it.each<[rule: string, resource: string, divisor: string | undefined, text: string]>([
    ['counts cpu in cores where there is no divisor, rounded up', 'limits.cpu', undefined, '2'],
    ['takes the divisor 0 for none', 'limits.cpu', '0', '2'],
    ['counts cpu in thousandths of a core', 'limits.cpu', '1m', '1250'],
    ['rounds a part of a core up to one', 'requests.cpu', undefined, '1'],
    ['tells requests as well as limits', 'requests.cpu', '1m', '150'],
    ['counts memory in bytes where there is no divisor', 'limits.memory', undefined, '100000001'],
    ['counts memory in thousands, rounded up', 'limits.memory', '1k', '100001'],
    ['counts memory in mebibytes, rounded up', 'limits.memory', '1Mi', '96'],
    ['counts memory in millions, rounded up', 'requests.memory', '1M', '53'],
    ['counts storage', 'limits.ephemeral-storage', '1Mi', '30'],
    ['counts huge pages', 'requests.hugepages-2Mi', '1Mi', '4'],
  ])('%s', (_rule, resource, divisor, text) => {
    const ref = { resource, ...(divisor === undefined ? {} : { divisor }) };
    expect(resourceValue(SPEC, MAIN, ref, ALLOCATABLE)).toEqual(value(text));
  });

  it.each([
    ['takes for a limit of cpu that is not set what pods may have of the node', 'limits.cpu', '2'],
    ['takes for a limit of memory that is not set what pods may have of the node', 'limits.memory', '2147483648'],
    [
      'takes for a limit of storage that is not set what pods may have of the node',
      'limits.ephemeral-storage',
      '9663676416',
    ],
    ['takes a request that is not set for none', 'requests.memory', '0'],
    ['takes a limit of huge pages that is not set for none', 'limits.hugepages-2Mi', '0'],
  ])('%s', (_rule, resource, text) => {
    expect(resourceValue(SPEC, BARE, { resource }, ALLOCATABLE)).toEqual(value(text));
  });

  it('takes the limit of the pod as a whole before that of the node', () => {
    const spec = { ...SPEC, resources: { limits: { memory: '64Mi' } } };
    expect(resourceValue(spec, BARE, { resource: 'limits.memory', divisor: '1Mi' }, ALLOCATABLE)).toEqual(value('64'));
    expect(resourceValue(spec, BARE, { resource: 'limits.cpu' }, ALLOCATABLE)).toEqual(value('2'));
  });

  it('tells of another container of the pod, and knows no other', () => {
    const of = (containerName: string) =>
      resourceValue(SPEC, BARE, { containerName, resource: 'limits.cpu', divisor: '1m' }, ALLOCATABLE);
    expect(of('main')).toEqual(value('1250'));
    expect(of('init')).toEqual(value('0'));
    expect(of('ghost')).toEqual({ kind: 'problem', message: 'container ghost not found' });
  });

  it('is the least number of divisors that makes up the amount', () => {
    const divisor = fc.constantFrom(
      { text: '1', size: 1 },
      { text: '1k', size: 1_000 },
      { text: '1Mi', size: 1_048_576 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), divisor, (bytes, { text, size }) => {
        const container = { name: 'c', resources: { requests: { memory: `${bytes}` } } };
        const found = resourceValue(
          { containers: [container] },
          container,
          { resource: 'requests.memory', divisor: text },
          {},
        );
        const count = found.kind === 'value' ? Number(found.text) : NaN;
        expect(count * size).toBeGreaterThanOrEqual(bytes);
        expect((count - 1) * size).toBeLessThan(bytes);
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});
