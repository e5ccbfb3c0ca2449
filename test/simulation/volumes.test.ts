import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.ts';
import type { Volume } from '../../src/model/volumes/volume-dir.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, live, starts } from './harness.ts';
import { declared, MINUTE, podOf, SECOND, statusOf } from './pod-stories.ts';

const POD = '/var/lib/rxlet/pods/v';
const MEMORY = `${POD}/volumes/kubernetes.io~empty-dir/m`;

function withVolume(volume: Volume, more: Partial<Pod['spec']> = {}): Pod {
  return podOf('v', {
    terminationGracePeriodSeconds: 1,
    volumes: [volume],
    containers: [declared('main', { volumeMounts: [{ name: volume.name, mountPath: '/v' }] })],
    ...more,
  });
}

const inMemory = (more?: Partial<Pod['spec']>): Pod => withVolume({ name: 'm', emptyDir: { medium: 'Memory' } }, more);
const callsOf = ({ calls }: World, name: string): readonly number[] =>
  calls.filter((call) => call.name === name).map(({ at }) => at);

describe('volumes, in virtual time', () => {
  it('a volume that is not there yet holds back the start, and is tried again later each time', () => {
    const waiting = withVolume({ name: 'h', hostPath: { path: '/srv/late', type: 'Directory' } });
    live(
      {},
      ({ agent, world, at }) => {
        agent(folder([0, [waiting]]), 0, 5 * MINUTE);
        at(20 * SECOND, () => {
          expect(statusOf(world, 'v')?.containerStatuses?.[0]?.state).toEqual({
            waiting: { reason: 'ContainerCreating' },
          });
          world.disk.makeDir('/srv/late', 0o755);
        });
      },
      (world) => {
        const looks = world.calls
          .filter(({ name, request }) => name === 'files.typeOf' && JSON.stringify(request).includes('/srv/late'))
          .map(({ at }) => at);
        const waits = looks.slice(1, 7).map((at, index) => Math.round((at - (looks[index] ?? 0)) / 100) / 10);
        expect(waits).toEqual([0.5, 1, 2, 4, 8, 16]);
        expect(starts(world)).toHaveLength(1);
        expect(starts(world)[0]).toBeLessThan(33 * SECOND);
      },
    );
  });

  it('a volume in memory is mounted once over restarts of containers and agents, and goes after the last container', () => {
    live(
      {},
      ({ agent, world, at }) => {
        agent(folder([0, [inMemory()]]), 0, MINUTE);
        at(20 * SECOND, () => {
          world.kill(world.running()[0]?.id ?? '');
        });
        agent(folder([0, [inMemory()]], [30_000, []]), 2 * MINUTE, 5 * MINUTE);
        at(2 * MINUTE + 20 * SECOND, () => {
          expect([...world.disk.mounts]).toEqual([MEMORY]);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(2);
        expect(callsOf(world, 'mounts.mountMemory')).toHaveLength(1);
        const ended = world.history.filter(({ kind }) => kind === 'exited').at(-1)?.at ?? Infinity;
        expect(callsOf(world, 'mounts.unmount')).toEqual([expect.any(Number)]);
        expect(callsOf(world, 'mounts.unmount')[0]).toBeGreaterThan(ended);
        expect([...world.disk.mounts]).toEqual([]);
        expect(world.disk.typeOf(POD)).toBe('missing');
      },
    );
  });

  it('the volumes of a pod that is done for good are given back while it is still shown', () => {
    live(
      { containerBehaviour: () => ({ exits: { after: 1_000, code: 0 } }) },
      ({ agent }) => {
        agent(folder([0, [inMemory({ restartPolicy: 'Never' })]]), 0, 3 * MINUTE);
      },
      (world) => {
        expect(statusOf(world, 'v')?.phase).toBe('Succeeded');
        expect([...world.disk.mounts]).toEqual([]);
        expect(world.disk.typeOf(MEMORY)).toBe('missing');
        expect(world.disk.typeOf(POD)).toBe('directory');
      },
    );
  });

  it('the volumes of a pod that nobody knows any more are unmounted before its folder is removed', () => {
    live(
      {},
      ({ agent, world, at }) => {
        agent(folder([0, [inMemory()]]), 0, MINUTE);
        at(MINUTE + SECOND, () => {
          expect([...world.disk.mounts]).toEqual([MEMORY]);
          world.wipeRuntime();
        });
        agent(folder([0, []]), 2 * MINUTE, 6 * MINUTE);
      },
      (world) => {
        expect([...world.disk.mounts]).toEqual([]);
        expect(world.disk.typeOf(POD)).toBe('missing');
      },
    );
  });

  it('a volume with something of somebody else mounted inside stays, and all that is in it', () => {
    live(
      {},
      ({ agent, world, at }) => {
        agent(folder([0, [withVolume({ name: 'm', emptyDir: {} })]], [30_000, []]), 0, 5 * MINUTE);
        at(20 * SECOND, () => {
          world.disk.put(`${MEMORY}/disk/precious`, { type: 'file', mode: 0o600, content: 'data' });
          world.disk.mounts.add(`${MEMORY}/disk`);
        });
      },
      (world) => {
        expect(world.running()).toEqual([]);
        expect(world.disk.readFile(`${MEMORY}/disk/precious`)).toBe('data');
      },
    );
  });

  it('the files of a volume follow what a running pod says of itself', () => {
    const labelled = (tier: string): Pod => {
      const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
      const pod = withVolume({ name: 'd', downwardAPI: { items } });
      return { ...pod, metadata: { ...pod.metadata, labels: { tier } } };
    };
    const file = `${POD}/volumes/kubernetes.io~downward-api/d/labels`;
    live(
      {},
      ({ agent, world, at }) => {
        agent(folder([0, [labelled('edge')]], [30_000, [labelled('core')]]), 0, MINUTE);
        at(20 * SECOND, () => {
          expect(world.disk.readFile(file)).toBe('tier="edge"');
        });
        at(32 * SECOND, () => {
          expect(world.disk.readFile(file)).toBe('tier="core"');
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(1);
      },
    );
  });
});
