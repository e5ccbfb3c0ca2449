import { concat, map, NEVER, timer, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired } from '../../src/model/desired.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../../src/model/rxlet-annotations.ts';
import type { LocalObject } from '../../src/model/objects/local-object.ts';
import type { Pod } from '../../src/model/pod.ts';
import { aConfigMap, aSecret } from '../unit/model/objects/a-set.ts';
import { live, pod, runningPods, starts } from './harness.ts';
import { statusOf } from './pod-stories.ts';

/** What the folder says from each time on (milliseconds). */
function said(
  pods: readonly Pod[],
  ...script: readonly (readonly [number, readonly LocalObject[]])[]
): Observable<Desired> {
  const steps = script.map(([at, objects], index) =>
    timer(at - (script[index - 1]?.[0] ?? 0)).pipe(
      map((): Desired => ({ source: 'file', pods, objects, problems: [] })),
    ),
  );
  return concat(...steps, NEVER);
}

function withEnv(annotations: Readonly<Record<string, string>> = {}): Pod {
  const of = pod('web');
  const containers = of.spec.containers.map((container) => ({
    ...container,
    envFrom: [{ configMapRef: { name: 'c' } }],
  }));
  return { ...of, metadata: { ...of.metadata, annotations }, spec: { ...of.spec, containers } };
}

function withVolume(volume: NonNullable<Pod['spec']['volumes']>[number]): Pod {
  const of = pod('web');
  const volumeMounts = [{ name: volume.name, mountPath: '/v' }];
  const containers = of.spec.containers.map((container) => ({ ...container, volumeMounts }));
  return { ...of, spec: { ...of.spec, containers, volumes: [volume] } };
}

describe('objects that serve pods', () => {
  it('a pod waits for the ConfigMap of its variables, and starts the moment it appears', () => {
    live(
      {},
      ({ agent }) => {
        agent(said([withEnv()], [0, []], [17_000, [aConfigMap('c', { a: '1' })]]), 0, 60_000);
      },
      (world) => {
        const [first, ...others] = starts(world);
        expect(others).toEqual([]);
        expect(first).toBeGreaterThanOrEqual(17_000);
        expect(first).toBeLessThan(18_000);
        expect(runningPods(world)).toEqual(['web/main']);
      },
    );
  });

  it('a container whose variables cannot be had is shown as waiting, with CreateContainerConfigError and the message', () => {
    live(
      {},
      ({ agent }) => {
        agent(said([withEnv()], [0, []]), 0, 60_000);
      },
      (world) => {
        expect(statusOf(world, 'web')?.containerStatuses?.[0]?.state).toEqual({
          waiting: { reason: 'CreateContainerConfigError', message: 'configmap "c" not found' },
        });
        expect(starts(world)).toEqual([]);
      },
    );
  });

  it('a pod waits for the Secret of its volume, whatever back-off its mount has got to', () => {
    live(
      {},
      ({ agent }) => {
        const of = withVolume({ name: 'v', secret: { secretName: 's' } });
        agent(said([of], [0, []], [40_000, [aSecret('s', { key: 'hunter2' })]]), 0, 90_000);
      },
      (world) => {
        const [first] = starts(world);
        expect(first).toBeGreaterThanOrEqual(40_000);
        expect(first).toBeLessThan(41_000);
        const dir = '/var/lib/rxlet/pods/web/volumes/kubernetes.io~secret/v';
        expect(world.disk.readFile(`${dir}/key`)).toBe('hunter2');
        const mounts = world.calls.filter(({ name }) => name === 'mounts.mountMemory');
        expect(mounts.map(({ request }) => request)).toMatchObject([{ target: dir }]);
      },
    );
  });

  it('a changed ConfigMap is in the volume at once, and nothing restarts', () => {
    live(
      {},
      ({ agent, at, world }) => {
        const of = withVolume({ name: 'v', configMap: { name: 'c' } });
        agent(
          said([of], [0, [aConfigMap('c', { a: '1' })]], [20_000, [aConfigMap('c', { a: '2', b: '3' })]]),
          0,
          60_000,
        );
        const file = (name: string): string | undefined =>
          world.disk.readFile(`/var/lib/rxlet/pods/web/volumes/kubernetes.io~configmap/v/${name}`);
        at(19_000, () => {
          expect([file('a'), file('b')]).toEqual(['1', undefined]);
        });
        at(21_000, () => {
          expect([file('a'), file('b')]).toEqual(['2', '3']);
        });
      },
      (world) => {
        expect(starts(world).length).toBe(1);
      },
    );
  });

  it('a changed ConfigMap leaves those alone that have variables from it', () => {
    live(
      {},
      ({ agent }) => {
        agent(
          said([withEnv()], [0, [aConfigMap('c', { a: '1' })]], [20_000, [aConfigMap('c', { a: '2' })]]),
          0,
          60_000,
        );
      },
      (world) => {
        expect(starts(world).length).toBe(1);
      },
    );
  });

  it('a changed ConfigMap restarts those once that ask for it, also when it changed while no agent ran', () => {
    live(
      {},
      ({ agent }) => {
        const of = withEnv({ [RESTART_ON_CONFIG_CHANGE]: 'true' });
        agent(said([of], [0, [aConfigMap('c', { a: '1' })]], [20_000, [aConfigMap('c', { a: '2' })]]), 0, 100_000);
        agent(said([of], [0, [aConfigMap('c', { a: '3' })]]), 700_000, 800_000);
      },
      (world) => {
        expect(starts(world).length).toBe(3);
        expect(starts(world)[1]).toBeGreaterThanOrEqual(20_000);
        expect(starts(world)[1]).toBeLessThan(21_000);
        expect(starts(world)[2]).toBeGreaterThanOrEqual(700_000);
        expect(starts(world)[2]).toBeLessThan(705_000);
        const [last] = world.running();
        expect(last?.config.envs?.map(({ key, value }) => `${key ?? ''}=${new TextDecoder().decode(value)}`)).toContain(
          'a=3',
        );
      },
    );
  });
});
