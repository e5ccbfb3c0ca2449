import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, live, starts } from './harness.ts';
import { conditionOf, declared, MINUTE, podOf, SECOND, statusOf } from './pod-stories.ts';

const VOLUME = '/var/lib/rxlet/pods/v/volumes/kubernetes.io~empty-dir/e';
const FILE = `${VOLUME}/big`;

/** A static pod, as those of a folder are, with room for 100 bytes. */
function limited(more: Partial<Pod['spec']> = {}): Pod {
  const pod = podOf('v', {
    volumes: [{ name: 'e', emptyDir: { sizeLimit: '100' } }],
    containers: [declared('main', { volumeMounts: [{ name: 'e', mountPath: '/v' }] })],
    ...more,
  });
  return { ...pod, metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } } };
}

function fill({ disk }: World): void {
  if (disk.typeOf(VOLUME) === 'directory') disk.put(FILE, { type: 'file', mode: 0o644, content: 'x'.repeat(101) });
}

const gaps = (times: readonly number[]): readonly number[] =>
  times.slice(1).map((time, index) => Math.round((time - (times[index] ?? 0)) / SECOND));

describe('a pod that fills its emptyDir, in virtual time', () => {
  it('is evicted, shown so with the time of its return, and begins anew with an empty folder', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [limited()]]), 0, 2 * MINUTE);
        at(20 * SECOND, () => {
          expect(world.running()).toHaveLength(1);
          fill(world);
        });
        at(35 * SECOND, () => {
          expect(world.running()).toEqual([]);
          expect(world.disk.typeOf(VOLUME)).toBe('missing');
          const status = statusOf(world, 'v');
          expect(status).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
          expect(status?.message).toMatch(
            /^Usage of EmptyDir volume "e" exceeds the limit "100". The pod begins anew at 1970-01-01T00:00:\d\dZ. $/,
          );
          expect(conditionOf(status, 'DisruptionTarget')).toBe('True');
        });
        at(MINUTE, () => {
          expect(statusOf(world, 'v')?.phase).toBe('Running');
          expect(statusOf(world, 'v')?.containerStatuses?.[0]?.restartCount).toBe(0);
          expect(world.disk.list(VOLUME)).toEqual([]);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(2);
      },
    );
  });

  it('comes back later each time, up to five minutes', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [limited()]]), 0, 60 * MINUTE);
        for (let time = SECOND; time < 60 * MINUTE; time += SECOND) {
          at(time, () => {
            fill(world);
          });
        }
      },
      (world) => {
        const waits = gaps(starts(world));
        [10, 20, 40, 80, 160, 300, 300].forEach((wait, index) => {
          expect(waits[index]).toBeGreaterThanOrEqual(wait);
          expect(waits[index]).toBeLessThanOrEqual(wait + 13);
        });
      },
    );
  });

  it('is kept out by the next agent for what is left of the wait, wherever the first one crashed', () => {
    for (let crash = 25 * SECOND; crash < 33 * SECOND; crash += 390) {
      live(
        {},
        ({ agent, at, world }) => {
          agent(folder([0, [limited()]]), 0, crash);
          agent(folder([0, [limited()]]), crash + 50, 4 * MINUTE);
          at(24 * SECOND, () => {
            fill(world);
          });
          at(90 * SECOND, () => {
            expect(world.disk.list(VOLUME)).toEqual([]);
            fill(world);
          });
        },
        (world) => {
          const [first = 0, second = 0, third = 0, ...more] = starts(world);
          expect(more).toEqual([]);
          expect(first).toBeLessThan(5 * SECOND);
          // Evicted 0 to 11 s after it was full, and away for 10 s from then on.
          expect(second - 24 * SECOND).toBeGreaterThanOrEqual(10 * SECOND);
          expect(second - 24 * SECOND).toBeLessThan(25 * SECOND);
          expect(third - 90 * SECOND).toBeGreaterThanOrEqual(20 * SECOND);
          expect(third - 90 * SECOND).toBeLessThan(33 * SECOND);
          expect(world.running()).toHaveLength(1);
        },
      );
    }
  });

  it('leaves nothing behind when its manifest goes while it is away, and an edited one begins at once', () => {
    live(
      {},
      ({ agent, at, world }) => {
        const edited = limited();
        const other = { ...edited, metadata: { ...edited.metadata, uid: 'w' as Pod['metadata']['uid'] } };
        agent(folder([0, [limited()]], [35 * SECOND, [other]], [MINUTE, []]), 0, 2 * MINUTE);
        at(20 * SECOND, () => {
          fill(world);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(2);
        expect(starts(world)[1]).toBeLessThan(37 * SECOND);
        expect(world.running()).toEqual([]);
        expect(world.disk.list('/var/lib/rxlet/state')).toEqual([]);
        expect(world.disk.list('/var/lib/rxlet/pods')).toEqual([]);
      },
    );
  });
});
