import { describe, expect, it } from 'vitest';
import { POD_UID } from '../../src/model/cri/labels.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, live, pod, runningPods, starts } from './harness.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function sandboxesEver(world: World): number {
  return world.calls.filter(({ name }) => name === 'RunPodSandbox').length;
}

function runningUids(world: World): readonly (string | undefined)[] {
  return world.running().map(({ config }) => config.labels?.[POD_UID]);
}

describe('what people ask of pods by hand', () => {
  it('stops a pod until it is started, and leaves the others alone', () => {
    live(
      {},
      ({ agent, at, command, world }) => {
        agent(folder([0, [pod('web'), pod('db')]]), 0, 3 * MINUTE);
        at(30 * SECOND, () => {
          command('stop', 'web');
        });
        at(90 * SECOND, () => {
          expect(runningPods(world)).toEqual(['db/main']);
          expect(world.sandboxes()).toHaveLength(1);
          command('start', 'web');
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['db/main', 'web/main']);
        expect(sandboxesEver(world)).toBe(3);
      },
    );
  });

  it('keeps a pod stopped over a restart of the agent', () => {
    const files = folder([0, [pod('web'), pod('db')]]);
    live(
      {},
      ({ agent, at, command, world }) => {
        agent(files, 0, MINUTE);
        at(30 * SECOND, () => {
          command('stop', 'web');
        });
        agent(files, MINUTE, 3 * MINUTE);
        at(2 * MINUTE, () => {
          expect(runningPods(world)).toEqual(['db/main']);
          command('start', 'web');
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['db/main', 'web/main']);
      },
    );
  });

  it('ends the stop when the manifest changes, and when it goes and comes back', () => {
    live(
      {},
      ({ agent, at, command, world }) => {
        const [v1, v2] = [pod('web', { uid: 'v1' }), pod('web', { uid: 'v2', value: 'new' })];
        agent(folder([0, [v1]], [MINUTE, [v2]], [3 * MINUTE, []], [4 * MINUTE, [v2]]), 0, 5 * MINUTE);
        at(30 * SECOND, () => {
          command('stop', 'web');
        });
        at(59 * SECOND, () => {
          expect(runningPods(world)).toEqual([]);
        });
        at(2 * MINUTE, () => {
          expect(runningUids(world)).toEqual(['v2']);
          command('stop', 'web');
        });
      },
      (world) => {
        expect(runningUids(world)).toEqual(['v2']);
      },
    );
  });

  it('restarts a pod as a whole: the old one ends before the new one begins', () => {
    live(
      {},
      ({ agent, at, command }) => {
        agent(folder([0, [pod('web')]]), 0, MINUTE);
        at(30 * SECOND, () => {
          command('restart', 'web');
        });
      },
      (world) => {
        const [, second = 0, ...more] = starts(world);
        expect(more).toEqual([]);
        expect(second).toBeGreaterThanOrEqual(30 * SECOND);
        expect(second).toBeLessThan(40 * SECOND);
        expect(sandboxesEver(world)).toBe(2);
        expect(runningPods(world)).toEqual(['web/main']);
        expect(world.running().map(({ config }) => config.metadata?.attempt)).toEqual([0]);
      },
    );
  });
});
