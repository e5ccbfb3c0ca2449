import { describe, expect, it } from 'vitest';
import { foresee, type Foreseen } from '../../src/cli/plan/foresee.ts';
import { POD_NAME, POD_UID } from '../../src/model/cri/labels.ts';
import type { AdmissionNode } from '../../src/model/admission/admission-node.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, live, pod, runningPods } from './harness.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const SMALL: AdmissionNode = {
  nodeName: 'n1',
  labels: {},
  taints: [],
  allocatable: { cpu: 1_000, memory: 1_000_000_000, pods: 110 },
  appArmor: false,
  allowedUnsafeSysctls: [],
  supplementalGroupsPolicy: true,
};

function asking(of: Pod, cpu: string): Pod {
  const containers = of.spec.containers.map((one) => ({ ...one, resources: { requests: { cpu } } }));
  return { ...of, spec: { ...of.spec, containers } };
}

/** The containers that run, by pod: another id is another container. */
function containersOf(world: World): ReadonlyMap<string, string> {
  return new Map(
    world
      .running()
      .map(({ id, config }) => [
        `default/${config.labels?.[POD_NAME] ?? ''}`,
        `${config.labels?.[POD_UID] ?? ''} ${id}`,
      ]),
  );
}

/** What became of each pod, in the words of a plan. */
function came(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const [then, now] = [before.get(name), after.get(name)];
      if (then === undefined) return [name, 'start'];
      if (now === undefined) return [name, 'stop'];
      if (then === now) return [name, 'stay'];
      return [name, then.split(' ')[0] === now.split(' ')[0] ? 'restart' : 'replace'];
    }),
  );
}

/** Plans with what the agent has in its book, lets the agent do it, and compares. */
function agrees(
  before: readonly Pod[],
  after: readonly Pod[],
  expected: Readonly<Record<string, string>>,
  { admission, stopped = [] }: { readonly admission?: AdmissionNode; readonly stopped?: readonly string[] } = {},
): void {
  let foreseen: readonly Foreseen[] = [];
  let then: ReadonlyMap<string, string> = new Map();
  live(
    {},
    ({ agent, at, ground, command, world }) => {
      agent(folder([0, before], [MINUTE, after]), 0, 5 * MINUTE, admission);
      at(30 * SECOND, () => {
        for (const name of stopped) command('stop', name);
      });
      at(59 * SECOND, () => {
        then = containersOf(world);
        foreseen = foresee(ground(), { source: 'file', pods: after, problems: [] }, 59 * SECOND);
      });
    },
    (world) => {
      expect(Object.fromEntries(foreseen.map(({ pod: name, fate }) => [name, fate]))).toEqual(expected);
      const real = Object.fromEntries(
        Object.entries(expected).filter(([, fate]) => fate !== 'refuse' && fate !== 'stopped' && fate !== 'update'),
      );
      const seen = came(then, containersOf(world));
      expect(Object.fromEntries(Object.entries(seen).filter(([name]) => expected[name] !== 'update'))).toEqual(real);
    },
  );
}

describe('a plan and the agent', () => {
  it('agree on what is new, gone, changed and the same', () => {
    agrees(
      [pod('same'), pod('gone'), pod('changed', { uid: 'v1' })],
      [pod('same'), pod('changed', { uid: 'v2', value: 'new' }), pod('fresh')],
      { 'default/same': 'stay', 'default/gone': 'stop', 'default/changed': 'replace', 'default/fresh': 'start' },
    );
  });

  it('user-asks 86: agree that nothing happens where nothing has changed', () => {
    agrees([pod('a'), pod('b')], [pod('b'), pod('a')], { 'default/a': 'stay', 'default/b': 'stay' });
  });

  it('agree on a pod of a fixed UID: another image restarts its container, another variable does not', () => {
    const old = pod('web');
    const other = {
      ...old,
      spec: { ...old.spec, containers: old.spec.containers.map((one) => ({ ...one, image: 'busybox:1.36' })) },
    };
    agrees([old, pod('db')], [other, pod('db', { value: 'new' })], {
      'default/web': 'restart',
      'default/db': 'update',
    });
  });

  it('agree on what the node has no room for, and on what fits when another one goes', () => {
    agrees(
      [asking(pod('big'), '800m')],
      [asking(pod('big'), '800m'), asking(pod('more'), '500m')],
      { 'default/big': 'stay', 'default/more': 'refuse' },
      { admission: SMALL },
    );
    agrees(
      [asking(pod('big'), '800m')],
      [asking(pod('more'), '500m')],
      { 'default/big': 'stop', 'default/more': 'start' },
      { admission: SMALL },
    );
  });

  it('agree on pods that are stopped by hand: they start when their manifests change', () => {
    agrees(
      [pod('idle'), pod('edited', { uid: 'v1' })],
      [pod('idle'), pod('edited', { uid: 'v2', value: 'new' })],
      { 'default/idle': 'stopped', 'default/edited': 'start' },
      { stopped: ['idle', 'edited'] },
    );
  });

  it('says which fields have changed, and none of their values', () => {
    live(
      {},
      ({ agent, at, ground }) => {
        agent(folder([0, [pod('web', { uid: 'v1', value: 'secret-1' })]]), 0, MINUTE);
        at(30 * SECOND, () => {
          const next = pod('web', { uid: 'v2', value: 'secret-2', grace: 5 });
          expect(foresee(ground(), { source: 'file', pods: [next], problems: [] }, 0)).toEqual([
            {
              pod: 'default/web',
              fate: 'replace',
              why: 'spec.terminationGracePeriodSeconds, spec.containers[0].env[0].value changed',
            },
          ]);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
      },
    );
  });
});
