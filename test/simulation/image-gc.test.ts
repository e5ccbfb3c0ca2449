import { describe, expect, it } from 'vitest';
import { POD_NAME } from '../../src/model/cri/labels.ts';
import type { Pod } from '../../src/model/pod.ts';
import type { ContainerBehaviour } from '../../src/simulation/process-script.ts';
import type { ImageGcLimits } from '../../src/streams/image-gc/image-gc.ts';
import { folder, live, pod, runningPods, starts, type ImageGcStory } from './harness.ts';
import { statusOf } from './pod-stories.ts';
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

/** The job fails, and succeeds the second time; everything else runs on. */
function failsOnce({ pod: { name }, attempt }: Parameters<ContainerBehaviour>[0]): ReturnType<ContainerBehaviour> {
  return name === 'job'
    ? { prints: [{ text: 'at work', after: 100 }], exits: { after: 1_000, code: attempt === 0 ? 1 : 0 } }
    : {};
}

/** How many containers of a pod the runtime holds. */
function instancesOf(world: World, name: string): number {
  return world.containers().filter(({ config }) => config.labels?.[POD_NAME] === name).length;
}

function logsOf({ disk }: World, name: string): readonly string[] {
  return [...disk.nodes.keys()].filter((path) => path.includes(`_${name}_`) && path.endsWith('.log'));
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
        expect(removals(world)).toEqual([expect.stringMatching(/^11 sha256/)]);
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
        expect(first).toBe(301); // busybox, which nobody asked for
        expect(second).toBeGreaterThanOrEqual(3_900);
        expect(second).toBeLessThan(4_300);
        expect(pulls(world)).toBe(1);
      },
    );
  });

  it('are those of jobs that are done, too, when the disk is short: their containers go first, and what came of them stays', () => {
    const images = {
      'busybox:1.35': { present: true, size: 10 * MB },
      'job:1': { size: 60 * MB },
      'web:1': { size: 20 * MB },
    };
    const told: unknown[] = [];
    let before: readonly number[] = [];
    const job: Pod = podWith('job', 'job:1');
    const done: Pod = { ...job, spec: { ...job.spec, restartPolicy: 'OnFailure' } };
    live(
      {
        images,
        imageGc: gc({ highThresholdPercent: 99, evictionHard: { 'imagefs.available': '15%' } }),
        containerBehaviour: failsOnce,
      },
      ({ agent, at, world }) => {
        const wanted = [pod('a'), done];
        agent(folder([0, wanted], [300_000, [...wanted, podWith('web', 'web:1')]]), 0, 400_000);
        agent(folder([0, [...wanted, podWith('web', 'web:1')]]), 400_000, 800_000);
        for (const time of [250_000, 390_000, 799_000]) at(time, () => told.push(statusOf(world, 'job')));
        at(290_000, () => {
          before = [instancesOf(world, 'job'), logsOf(world, 'job').length];
        });
      },
      (world) => {
        const main = {
          restartCount: 1,
          state: { terminated: { exitCode: 0 } },
          lastState: { terminated: { exitCode: 1 } },
        };
        const succeeded = { phase: 'Succeeded', containerStatuses: [main] };
        expect(told).toMatchObject([succeeded, succeeded, succeeded]);
        expect(before).toEqual([2, 2]);
        expect([instancesOf(world, 'job'), logsOf(world, 'job').length]).toEqual([0, 0]);
        expect(starts(world).length).toBe(4);
        expect(removals(world)).toHaveLength(1);
        expect(runningPods(world)).toEqual(['a/main', 'web/main']);
      },
    );
  });

  it('stay with the container of a job until its end is on disk: whenever the agent is killed, the job is not run again', () => {
    const images = { 'job:1': { present: true, size: 90 * MB } };
    const job = podWith('job', 'job:1');
    const done: Pod = { ...job, spec: { ...job.spec, restartPolicy: 'OnFailure' } };
    const limits = { highThresholdPercent: 99, evictionHard: { 'imagefs.available': '15%' } };
    // The disk is looked at a second after the start, when the status of a pod that has begun before waits to be written.
    for (const killedAt of [800, 1_050, 1_100, 1_150, 1_200, 1_300, 1_500, 2_000, 11_050, 11_100])
      live(
        { images, imageGc: gc(limits), containerBehaviour: () => ({ exits: { after: 500, code: 0 } }) },
        ({ agent }) => {
          agent(folder([0, [done]]), 0, killedAt);
          agent(folder([0, [done]]), 60_000, 120_000);
        },
        (world) => {
          expect(starts(world), `killed at ${killedAt} ms`).toHaveLength(1);
          expect(statusOf(world, 'job')).toMatchObject({ phase: 'Succeeded' });
          expect(instancesOf(world, 'job')).toBe(0);
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
