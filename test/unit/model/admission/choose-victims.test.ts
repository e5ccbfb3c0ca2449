import { describe, expect, it } from 'vitest';
import { chooseVictims } from '../../../../src/model/admission/choose-victims.ts';
import type { Shortage } from '../../../../src/model/admission/find-shortages.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { podThat } from './nodes.ts';

const lack = (resource: string, quantity: number): Shortage => ({
  resource,
  requested: quantity,
  used: 0,
  capacity: 0,
});
const lackOf = (resources: Readonly<Record<string, number>>): readonly Shortage[] =>
  Object.entries(resources).map(([resource, quantity]) => lack(resource, quantity));

/** Pods that are not critical, by what they request; `fixed` ones are limited to that. */
const burstable = (uid: string, requests: Readonly<Record<string, string>>): Pod => podThat({ requests }, uid, 'api');
const fixed = (uid: string, requests: Readonly<Record<string, string>>): Pod =>
  podThat({ requests, limits: requests }, uid, 'api');
const idle = (uid: string): Pod => podThat({}, uid, 'api');

const SMALL = { cpu: '500m', memory: '1k' };

describe('chooseVictims', () => {
  it.each<[rule: string, lacks: Readonly<Record<string, number>>, others: readonly Pod[], victims: readonly string[]]>([
    [
      'ends a best-effort pod before any other where a place is all that is missing',
      { pods: 1 },
      [fixed('guaranteed', SMALL), burstable('burstable', { cpu: '500m' }), idle('idle')],
      ['idle'],
    ],
    [
      'ends a burstable pod before a guaranteed one',
      { cpu: 500 },
      [fixed('guaranteed', SMALL), burstable('burstable', { cpu: '500m' })],
      ['burstable'],
    ],
    [
      'ends a burstable pod before a guaranteed one even where that comes nearer to the need',
      { cpu: 500 },
      [fixed('guaranteed', SMALL), burstable('burstable', { cpu: '1900m' })],
      ['burstable'],
    ],
    [
      'ends guaranteed pods for what all others together cannot give',
      { cpu: 1_200 },
      [fixed('guaranteed', SMALL), burstable('b1', { cpu: '400m' }), burstable('b2', { cpu: '400m' })],
      ['b1', 'b2', 'guaranteed'],
    ],
    [
      'ends no burstable pod for what the guaranteed ones that must go give already',
      { cpu: 1_900 },
      [
        fixed('guaranteed', { cpu: '1500m', memory: '1k' }),
        burstable('b1', { cpu: '200m' }),
        burstable('b2', { cpu: '400m' }),
      ],
      ['b2', 'guaranteed'],
    ],
    [
      'ends one pod rather than two',
      { cpu: 1_000 },
      [burstable('half', { cpu: '500m' }), burstable('other half', { cpu: '500m' }), burstable('whole', { cpu: '1' })],
      ['whole'],
    ],
    [
      'ends first the pod that leaves least of the need, squared and summed over the resources',
      { cpu: 1_000, memory: 1_000 },
      [
        burstable('all of one', { cpu: '400m', memory: '1000' }),
        burstable('much of both', { cpu: '600m', memory: '700' }),
      ],
      ['much of both', 'all of one'],
    ],
    [
      'ends of pods that come equally near the one with less memory',
      { cpu: 500 },
      [burstable('large', { cpu: '500m', memory: '2k' }), burstable('small', { cpu: '500m', memory: '1k' })],
      ['small'],
    ],
    [
      'ends of pods that come equally near, with equal memory, the one with less cpu',
      { cpu: 500 },
      [burstable('large', { cpu: '900m', memory: '1k' }), burstable('small', { cpu: '600m', memory: '1k' })],
      ['small'],
    ],
    [
      'takes what a pod does not ask for as nothing that it could give',
      { memory: 500 },
      [burstable('cpu only', { cpu: '1' }), burstable('memory', { memory: '1k' })],
      ['memory'],
    ],
    [
      'takes what a pod does not ask for as less than what another asks for',
      { cpu: 500 },
      [burstable('with memory', { cpu: '500m', memory: '1k' }), burstable('without', { cpu: '500m' })],
      ['without'],
    ],
    [
      'ends nobody that may not be ended',
      { cpu: 500 },
      [podThat({ requests: { cpu: '500m' } }, 'static'), burstable('other', { cpu: '1900m' })],
      ['other'],
    ],
    ['ends nobody where nothing is missing', {}, [idle('idle')], []],
  ])('%s', (_rule, lacks, others, victims) => {
    const choice = chooseVictims(podThat(), others, lackOf(lacks));
    expect(choice.kind === 'found' && choice.victims.map(({ metadata }) => metadata.uid)).toEqual(victims);
  });

  it('finds none where all that may be ended are not enough, and names what is missing then', () => {
    expect(chooseVictims(podThat(), [burstable('b', { cpu: '200m' })], lackOf({ cpu: 500, memory: 7 }))).toEqual({
      kind: 'none',
      message: 'no set of running pods found to reclaim resources: [(res: cpu, q: 300), (res: memory, q: 7), ]',
    });
  });
});
