import { describe, expect, it } from 'vitest';
import { localLimits, roomLeft, whatIsOver, type LocalUse } from '../../../src/model/local-storage.ts';
import type { PodSpec } from '../../../src/model/pod.ts';

const MI = 2 ** 20;

function limited(limit: string | undefined, name = 'main'): PodSpec['containers'][number] {
  return { name, resources: limit === undefined ? {} : { limits: { 'ephemeral-storage': limit } } };
}

const withVolume = (emptyDir: object): PodSpec => ({
  containers: [limited(undefined)],
  volumes: [{ name: 'e', emptyDir }],
});

function use(volumes: Readonly<Record<string, number>>, containers: Readonly<Record<string, number>>): LocalUse {
  return { volumes: new Map(Object.entries(volumes)), containers: new Map(Object.entries(containers)) };
}

function over(spec: PodSpec, used: LocalUse): string | undefined {
  const limits = localLimits(spec);
  return limits && whatIsOver(limits, used);
}

describe('localLimits', () => {
  it.each<[string, PodSpec]>([
    ['a volume without a sizeLimit is held to nothing', withVolume({})],
    ['a volume in memory holds its sizeLimit by itself', withVolume({ medium: 'Memory', sizeLimit: '1Mi' })],
    ['a volume in huge pages holds its sizeLimit by itself', withVolume({ medium: 'HugePages-2Mi', sizeLimit: '2Mi' })],
    ['a sizeLimit of 0 is held to nothing', withVolume({ sizeLimit: '0' })],
    ['a container with a limit of 0 is held to nothing', { containers: [limited('0')] }],
  ])('%s', (_rule, spec) => {
    expect(localLimits(spec)).toBeUndefined();
  });

  it('a pod is held to the limits of all its containers together', () => {
    const spec = { containers: [limited('1Mi'), limited(undefined, 'free'), limited('2Mi', 'side')] };
    expect(localLimits(spec)?.pod).toEqual({ text: '3Mi', bytes: 3 * MI });
  });
});

describe('whatIsOver', () => {
  const spec = { ...withVolume({ sizeLimit: '1Mi' }), containers: [limited('1Mi'), limited('2Mi', 'side')] };

  it.each<[string, LocalUse, string | undefined]>([
    ['a volume and a pod may be full to the byte', use({ e: MI }, { main: MI, side: MI }), undefined],
    [
      'a volume beyond its sizeLimit is told before all else',
      use({ e: MI + 1 }, { main: 9 * MI }),
      'Usage of EmptyDir volume "e" exceeds the limit "1Mi". ',
    ],
    [
      'a pod beyond its limits is told before its containers, and its volumes count for it',
      use({ e: MI }, { main: MI, side: MI + 1 }),
      'Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ',
    ],
    [
      'a container beyond its limit is told where the pod is within its own',
      use({}, { main: MI + 1 }),
      'Container main exceeded its local ephemeral storage limit "1Mi". ',
    ],
  ])('%s', (_rule, used, message) => {
    expect(over(spec, used)).toBe(message);
  });

  it('a container without a limit counts for the pod only', () => {
    const one = { containers: [limited('1Mi'), limited(undefined, 'free')] };
    expect(over(one, use({}, { free: MI + 1 }))).toMatch(/^Pod ephemeral/);
  });
});

describe('roomLeft', () => {
  it('is what is left until the first limit', () => {
    const limits = localLimits({ ...withVolume({ sizeLimit: '4Mi' }), containers: [limited('3Mi')] });
    expect(limits && roomLeft(limits, use({ e: MI }, { main: MI }))).toBe(MI);
  });
});
