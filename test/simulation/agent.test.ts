import { asyncScheduler, defer, NEVER, of, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired } from '../../src/model/desired.ts';
import { manifestStream } from '../../src/sources/file/manifest-stream.ts';
import type { ManifestScan } from '../../src/sources/file/scan-manifests.ts';
import { folder, live, pod, runningPods, starts } from './harness.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe('the agent, in virtual time', () => {
  it('lives through a day: one pod runs all the time and costs no call that changes anything', () => {
    live(
      {},
      ({ agent }) => {
        agent(folder([0, [pod('web')]]), 0, 24 * HOUR);
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(starts(world)).toHaveLength(1);
        const relists = world.calls.filter(({ name }) => name === 'ListContainers').length;
        expect(relists).toBeGreaterThan(((24 * 60 * 60) / 20) * 0.9); // every twenty seconds while it hears events
        const changing = world.calls.filter(({ name }) => /^(Run|Create|Start|Stop|Remove)/.test(name));
        expect(changing.map(({ name }) => name)).toEqual(['RunPodSandbox', 'CreateContainer', 'StartContainer']);
      },
    );
  });

  it('starts a container that always fails at 0, 0, 10, 30, 70, 150, 310 s', () => {
    live(
      { containerBehaviour: () => ({ exits: { after: 0, code: 1 } }) },
      ({ agent }) => {
        agent(folder([0, [pod('crash')]]), 0, 320 * SECOND);
      },
      (world) => {
        const [first = 0, ...later] = starts(world);
        const seconds = later.map((at) => Math.round((at - first) / SECOND));
        expect([0, ...seconds]).toEqual([0, 0, 10, 30, 70, 150, 310].map((at, index) => seconds[index - 1] ?? at));
        expect(seconds).toHaveLength(6);
        for (const [index, at] of [0, 10, 30, 70, 150, 310].entries()) {
          expect(seconds[index]).toBeGreaterThanOrEqual(at);
          expect(seconds[index]).toBeLessThanOrEqual(at + 3);
        }
      },
    );
  });

  it('starts a killed container again at once, in the same sandbox, and counts it', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web')]]), 0, MINUTE);
        at(30 * SECOND, () => {
          for (const { id } of world.running()) world.kill(id);
        });
      },
      (world) => {
        const [, second = 0] = starts(world);
        expect(second - 30 * SECOND).toBeLessThan(SECOND);
        expect(world.running().map(({ config }) => config.metadata)).toEqual([{ name: 'main', attempt: 1 }]);
        expect(world.sandboxes()).toHaveLength(1);
      },
    );
  });

  it('replaces an edited pod: one copy at any time, the new one starts when the old one has ended', () => {
    live(
      {},
      ({ agent }) => {
        agent(
          folder([0, [pod('web', { uid: 'one' })]], [MINUTE, [pod('web', { uid: 'two', value: 'new' })]]),
          0,
          2 * MINUTE,
        );
      },
      (world) => {
        const [exited] = world.history.filter(({ kind, container }) => kind === 'exited' && container);
        const [, second = 0] = starts(world);
        expect(exited?.at).toBeGreaterThan(MINUTE);
        expect(second).toBeGreaterThan(exited?.at ?? Infinity);
        expect(second - (exited?.at ?? 0)).toBeLessThan(SECOND);
        expect(world.sandboxes().map(({ config }) => config.metadata?.uid)).toEqual(['two']);
      },
    );
  });

  it('runs only the last of ten quick edits during a long grace period', () => {
    const edits = Array.from(
      { length: 10 },
      (_, n) => [MINUTE + n * SECOND, [pod('web', { uid: `v${n}`, grace: 20 })]] as const,
    );
    live(
      { containerBehaviour: ({ pod: { uid } }) => (uid === 'first' ? { onTerm: 'ignored' } : {}) },
      ({ agent }) => {
        agent(folder([0, [pod('web', { uid: 'first', grace: 20 })]], ...edits), 0, 5 * MINUTE);
      },
      (world) => {
        const ran = world.history
          .filter(({ kind, container }) => kind === 'started' && container)
          .map(({ sandbox }) => sandbox.config.metadata?.uid);
        expect(ran).toEqual(['first', 'v9']);
      },
    );
  });

  it('ends a pod within its grace period when its manifest goes, and leaves nothing behind', () => {
    live(
      { containerBehaviour: () => ({ onTerm: 'ignored' }) },
      ({ agent }) => {
        agent(folder([0, [pod('web', { grace: 7 })]], [MINUTE, []]), 0, 2 * MINUTE);
      },
      (world) => {
        const [exited] = world.history.filter(({ kind, container }) => kind === 'exited' && container);
        expect(Math.round(((exited?.at ?? 0) - MINUTE) / SECOND)).toBe(7);
        expect(world.containers()).toEqual([]);
        expect(world.sandboxes()).toEqual([]);
        expect([...world.disk.nodes.keys()].filter((path) => path.includes('web'))).toEqual([]);
      },
    );
  });

  it('leaves pods running when it stops, and finds them again: nothing starts twice, counts go on', () => {
    live(
      {},
      ({ agent, at, world }) => {
        const pods = Array.from({ length: 10 }, (_, n) => pod(`web${n}`));
        agent(folder([0, pods]), 0, MINUTE);
        at(30 * SECOND, () => {
          for (const { id } of world.running()) world.kill(id);
        });
        agent(folder([0, pods]), 2 * MINUTE, 4 * MINUTE);
        at(3 * MINUTE, () => {
          for (const { id } of world.running()) world.kill(id);
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(30);
        expect(world.running().map(({ config }) => config.metadata?.attempt)).toEqual(
          Array.from({ length: 10 }, () => 2),
        );
      },
    );
  });

  it('finishes what a crashed agent had begun, whenever it crashed', () => {
    for (let crash = 1; crash < 400; crash += 7) {
      live(
        {},
        ({ agent }) => {
          agent(folder([0, [pod('web'), pod('db')]]), 0, crash);
          agent(folder([0, [pod('web'), pod('db')]]), crash + 10, MINUTE);
        },
        (world) => {
          expect(runningPods(world)).toEqual(['db/main', 'web/main']);
          expect(world.sandboxes()).toHaveLength(2);
        },
      );
    }
  });

  it('ends what it finds of pods that nobody wants any more, and replaces what changed meanwhile', () => {
    live(
      {},
      ({ agent }) => {
        agent(folder([0, [pod('gone'), pod('web', { uid: 'old' }), pod('same')]]), 0, MINUTE);
        agent(folder([0, [pod('web', { uid: 'new' }), pod('same')]]), 2 * MINUTE, 4 * MINUTE);
      },
      (world) => {
        expect(world.running().map(({ config }) => config.labels?.['io.kubernetes.pod.uid'])).toEqual(['same', 'new']);
        expect(starts(world)).toHaveLength(4);
      },
    );
  });

  it('ends nothing that runs while its manifests cannot be looked at and none are remembered', () => {
    const manifest = `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: main, image: 'busybox:1.35'}]}\n`;
    const files = [{ path: '/m/web.yaml', inode: 1n, content: { text: manifest } }];
    const fromFolder = (brokenUntil: number): Observable<Desired> =>
      manifestStream(
        { path: '/m', nodeName: 'n1', fileCheckFrequency: 20_000 },
        {
          watch: () => NEVER,
          scan: () =>
            defer(() =>
              of<ManifestScan>(
                asyncScheduler.now() - began < brokenUntil
                  ? { kind: 'failed', message: 'EIO: i/o error' }
                  : { kind: 'read', files, unsettled: false },
              ),
            ),
        },
      );
    let began = 0;
    live(
      {},
      ({ agent, at, world }) => {
        began = asyncScheduler.now();
        agent(fromFolder(0), 0, 10_000);
        agent(fromFolder(100_000), 10_000, 300_000);
        at(90_000, () => {
          expect(runningPods(world)).toEqual(['web-n1/main']);
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web-n1/main']);
        expect(world.history.filter(({ kind }) => kind === 'exited')).toEqual([]);
        expect(starts(world)).toHaveLength(1);
      },
    );
  });

  it('re-creates nothing when the runtime restarts under running pods', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web'), pod('db')]]), 0, 5 * MINUTE);
        at(MINUTE, () => {
          world.stopRuntime();
        });
        at(2 * MINUTE, () => {
          world.startRuntime();
        });
      },
      (world) => {
        expect(starts(world)).toHaveLength(2);
        expect(world.sandboxes()).toHaveLength(2);
      },
    );
  });

  it('starts pods that were added while the runtime was away as soon as it is back', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web')]], [90 * SECOND, [pod('web'), pod('db')]]), 0, 5 * MINUTE);
        at(MINUTE, () => {
          world.stopRuntime();
        });
        at(2 * MINUTE, () => {
          world.startRuntime();
        });
      },
      (world) => {
        expect(runningPods(world)).toEqual(['db/main', 'web/main']);
        expect(Math.max(...starts(world))).toBeLessThan(2 * MINUTE + 7 * SECOND);
      },
    );
  });

  it('brings every pod back after a reboot of the machine, each in a new sandbox', () => {
    live(
      {},
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web'), pod('once', { restartPolicy: 'Never' })]]), 0, MINUTE);
        at(2 * MINUTE, () => {
          world.reboot();
        });
        agent(folder([0, [pod('web'), pod('once', { restartPolicy: 'Never' })]]), 3 * MINUTE, 5 * MINUTE);
      },
      (world) => {
        expect(runningPods(world)).toEqual(['web/main']);
        expect(world.running()[0]?.config.metadata).toEqual({ name: 'main', attempt: 1 });
      },
    );
  });

  it('gives one stuck pod no power over the others', () => {
    live(
      {
        faults: ({ name, request }) =>
          name === 'RunPodSandbox' && JSON.stringify(request).includes('"stuck"') ? { kind: 'hang' } : undefined,
      },
      ({ agent }) => {
        agent(
          folder([0, [pod('stuck'), pod('web')]], [MINUTE, [pod('stuck'), pod('web'), pod('late')]]),
          0,
          2 * MINUTE,
        );
      },
      (world) => {
        expect(runningPods(world)).toEqual(['late/main', 'web/main']);
      },
    );
  });

  it('kills again, for ever and ever slower, a container that the runtime cannot end', () => {
    live(
      { faults: ({ name }) => (name === 'StopContainer' ? { kind: 'fail', error: 'refused' } : undefined) },
      ({ agent, at, world }) => {
        agent(folder([0, [pod('web', { grace: 2 })]], [MINUTE, []]), 0, 5 * MINUTE);
        at(3 * MINUTE, () => {
          world.setFaults(() => undefined);
        });
      },
      (world) => {
        const kills = world.calls.filter(({ name }) => name === 'StopContainer').map(({ at }) => at);
        expect(kills.length).toBeGreaterThan(5);
        expect(kills.length).toBeLessThan(40);
        expect(world.containers()).toEqual([]);
      },
    );
  });
});
