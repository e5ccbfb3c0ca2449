import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from '../../../src/model/pod.ts';
import { qosClassOf } from '../../../src/model/qos.ts';

type Resources = NonNullable<Container['resources']>;

function spec(...resources: readonly (Resources | undefined)[]): PodSpec {
  return { containers: resources.map((given, n) => ({ name: `c${n}`, ...(given ? { resources: given } : {}) })) };
}

const FULL: Resources = { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '1', memory: '64Mi' } };

describe('qosClassOf', () => {
  it.each([
    ['a pod that asks for nothing is BestEffort', spec(undefined, {}), 'BestEffort'],
    [
      'amounts of zero ask for nothing',
      spec({ limits: { cpu: '0', memory: '0' }, requests: { cpu: '0' } }),
      'BestEffort',
    ],
    ['resources other than cpu and memory do not count', spec({ limits: { 'gold.test/gizmo': '2' } }), 'BestEffort'],
    ['limits equal to requests of cpu and memory make it Guaranteed', spec(FULL, FULL), 'Guaranteed'],
    ['a limit without a request is its own request', spec({ limits: { cpu: '1', memory: '1Gi' } }), 'Guaranteed'],
    [
      'units do not matter to whether requests equal limits',
      spec({ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } }),
      'Guaranteed',
    ],
    ['one container without limits makes it Burstable', spec(FULL, {}), 'Burstable'],
    ['limits of memory alone make it Burstable', spec({ limits: { memory: '40Mi' } }), 'Burstable'],
    ['a request alone makes it Burstable', spec({ requests: { cpu: '100m' } }), 'Burstable'],
    [
      'a request below its limit makes it Burstable',
      spec({ ...FULL, requests: { cpu: '500m', memory: '64Mi' } }),
      'Burstable',
    ],
    ['a request of zero is below its limit', spec({ ...FULL, requests: { cpu: '0', memory: '64Mi' } }), 'Burstable'],
    ['init containers count like regular ones', { ...spec(FULL), initContainers: [{ name: 'init' }] }, 'Burstable'],
    [
      'limits of the pod as a whole stand for all of its containers',
      { ...spec({}, { requests: { cpu: '1m' } }), resources: FULL },
      'Guaranteed',
    ],
    [
      'requests of the pod as a whole below its limits make it Burstable',
      { ...spec(FULL), resources: { ...FULL, requests: { cpu: '500m', memory: '64Mi' } } },
      'Burstable',
    ],
    [
      'a pod that asks for nothing as a whole is judged by its containers',
      { ...spec(FULL), resources: {} },
      'Guaranteed',
    ],
  ])('%s', (_rule, given, qos) => {
    expect(qosClassOf(given)).toBe(qos);
  });

  it('does not depend on the order of containers, nor on how often one stands there', () => {
    const amount = fc.option(fc.constantFrom('0', '1', '500m', '2'), { nil: undefined });
    const amounts = fc.record({ cpu: amount, memory: amount }).map(defined);
    const resources = fc.record({ limits: amounts, requests: amounts });
    fc.assert(
      fc.property(fc.array(resources, { minLength: 1, maxLength: 4 }), (list) => {
        expect(qosClassOf(spec(...list.toReversed()))).toBe(qosClassOf(spec(...list)));
        expect(qosClassOf(spec(...list, ...list))).toBe(qosClassOf(spec(...list)));
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});

function defined(amounts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(amounts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
