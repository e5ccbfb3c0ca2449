import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.ts';
import type { ImageGcLimits } from '../../src/streams/image-gc/image-gc.ts';
import { folder, live, pod, runningPods, type ImageGcStory } from './harness.ts';
import type { World } from '../../src/simulation/simulated-node.ts';

const MB = 1_000_000;
const LIMITS: ImageGcLimits = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAge: 120_000,
  maximumAge: 0,
  evictionHard: {},
};

function gc(more: Partial<ImageGcLimits> = {}, capacity = 100 * MB): ImageGcStory {
  return { capacity, limits: { ...LIMITS, ...more } };
}

function podWith(name: string, image: string): Pod {
  const plain = pod(name);
  return {
    ...plain,
    spec: { ...plain.spec, containers: plain.spec.containers.map((container) => ({ ...container, image })) },
  };
}

/** When each image was removed (seconds). */
function removals({ calls }: World): readonly string[] {
  return calls.flatMap(({ name, request, at }) =>
    name === 'RemoveImage' ? [`${Math.round(at / 1_000)} ${idOf(request)}`] : [],
  );
}

function idOf(request: unknown): string {
  return (request as { readonly image: { readonly image: string } }).image.image.slice(0, 11);
}

function pulls({ calls }: World): number {
  return calls.filter(({ name }) => name === 'PullImage').length;
}

describe('images that nobody uses', () => {
  it('make room when the disk is full, and no pod notices', () => {
    const images = {
      'busybox:1.35': { present: true, size: 10 * MB },
      'old:1': { present: true, size: 30 * MB },
      'web:1': { size: 50 * MB },
    };
    live(
      { images, imageGc: gc() },
      ({ agent }) => {
        agent(folder([0, [pod('a'), podWith('web', 'web:1')]]), 0, 600_000);
      },
      (world) => {
        expect(removals(world)).toEqual([expect.stringMatching(/^10 sha256/)]);
        expect(runningPods(world)).toEqual(['a/main', 'web/main']);
        expect(pulls(world)).toBe(1);
      },
    );
  });

  it('#61: leave those that sandboxes are made from and those in use, however full the disk is', () => {
    const images = {
      'busybox:1.35': { present: true, size: 50 * MB },
      'pause:3': { present: true, size: 45 * MB, pinned: true },
    };
    live(
      { images, imageGc: gc() },
      ({ agent }) => {
        agent(folder([0, [pod('a')]]), 0, 3_600_000);
      },
      (world) => {
        expect(removals(world)).toEqual([]);
        expect(runningPods(world)).toEqual(['a/main']);
      },
    );
  });

  it('#62: stay for ever where the threshold is 100', () => {
    const images = { 'busybox:1.35': { present: true, size: 50 * MB }, 'old:1': { present: true, size: 50 * MB } };
    live(
      { images, imageGc: gc({ highThresholdPercent: 100, evictionHard: { 'imagefs.available': '15%' } }) },
      ({ agent }) => {
        agent(folder([0, [pod('a')]]), 0, 3_600_000);
      },
      (world) => {
        expect(removals(world)).toEqual([]);
      },
    );
  });

  it('stay as long as a pod asks for one of them that crashes, and go some time after it has gone', () => {
    live(
      {
        images: { 'job:1': {}, 'busybox:1.35': { present: true } },
        imageGc: gc({ maximumAge: 300_000 }),
        containerBehaviour: () => ({ exits: { after: 1_000, code: 1 } }),
      },
      ({ agent }) => {
        agent(folder([0, [podWith('job', 'job:1')]], [3_600_000, []]), 0, 7_200_000);
      },
      (world) => {
        const [first, second] = removals(world).map((line) => Number(line.split(' ')[0]));
        expect(first).toBe(300); // busybox, which nobody asked for
        expect(second).toBeGreaterThanOrEqual(3_900);
        expect(second).toBeLessThan(4_300);
        expect(pulls(world)).toBe(1);
      },
    );
  });

  it('are looked for again after the runtime was away', () => {
    live(
      { images: { 'busybox:1.35': { present: true } }, imageGc: gc({ maximumAge: 300_000 }) },
      ({ agent, at, world }) => {
        agent(folder([0, []]), 0, 3_600_000);
        at(200_000, world.stopRuntime);
        at(400_000, world.startRuntime);
      },
      (world) => {
        const [removal, ...more] = removals(world);
        expect(more).toEqual([]);
        expect(Number(removal?.split(' ')[0])).toBeGreaterThan(400);
      },
    );
  });
});
