import { describe, expect, it } from 'vitest';
import type { AdmissionNode } from '../../src/model/admission/admission-node.ts';
import type { Pod } from '../../src/model/pod.ts';
import { folder, live, pod, runningPods } from './harness.ts';

const NODE: AdmissionNode = {
  nodeName: 'n1',
  labels: {},
  taints: [],
  allocatable: { cpu: 2_000, memory: 8 * 2 ** 30, pods: 1 },
  appArmor: false,
  allowedUnsafeSysctls: [],
  supplementalGroupsPolicy: true,
};

describe('a node with room for one pod', () => {
  it('user-asks 25: runs the second as soon as the first is gone, and the third after it', () => {
    const [one, two, three]: readonly Pod[] = ['one', 'two', 'three'].map((name) => pod(name, { grace: 1 }));
    if (!one || !two || !three) throw new Error('there are three pods');
    const seen: (readonly string[])[] = [];
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [one, two, three]], [20_000, [two, three]], [40_000, [three]]), 0, 60_000, NODE);
        for (const time of [19_000, 39_000, 59_000]) at(time, () => seen.push(runningPods(world)));
      },
      () => {
        expect(seen).toEqual([['one/main'], ['two/main'], ['three/main']]);
      },
    );
  });

  it('starts the second within a second after the end of the first', () => {
    const [one, two] = [pod('one', { grace: 1 }), pod('two')];
    const times: number[] = [];
    live(
      {},
      ({ agent }) => {
        agent(folder([0, [one, two]], [20_000, [two]]), 0, 60_000, NODE);
      },
      ({ history }) => {
        const happenings = history.filter(
          ({ container, kind }) => container && (kind === 'started' || kind === 'exited'),
        );
        times.push(...happenings.map(({ at }) => at));
        expect(happenings.map(({ kind }) => kind)).toEqual(['started', 'exited', 'started']);
        expect((times[2] ?? 0) - (times[1] ?? 0)).toBeLessThan(1_000);
      },
    );
  });

  it('keeps what ran already over a restart of the agent with less room', () => {
    const [one, two] = [pod('one'), pod('two')];
    live(
      {},
      ({ agent }) => {
        agent(folder([0, [one, two]]), 0, 20_000);
        agent(folder([0, [one, two]]), 20_000, 60_000, NODE);
      },
      (world) => {
        expect(runningPods(world)).toEqual(['one/main', 'two/main']);
        expect(world.history.filter(({ kind }) => kind === 'exited')).toEqual([]);
      },
    );
  });
});
