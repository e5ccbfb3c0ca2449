import { asyncScheduler } from 'rxjs';
import type { Container, Pod, PodSpec, PodStatus } from '../../src/model/pod.ts';
import type { ProcessScript } from '../../src/simulation/process-script.ts';
import type { World } from '../../src/simulation/simulated-node.ts';
import { folder, pod, type Life } from './harness.ts';

export const SECOND = 1_000;
export const MINUTE: number = 60 * SECOND;

/** A container as a manifest declares it, with all that the API would default. */
export function declared(name: string, more: Partial<Container> = {}): Container {
  return {
    name,
    image: 'busybox:1.35',
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...more,
  };
}

export function sidecar(name: string, more: Partial<Container> = {}): Container {
  return declared(name, { restartPolicy: 'Always', ...more });
}

/** A probe with all that the API would default. */
export function execProbe(more: Readonly<Record<string, unknown>> = {}): NonNullable<Container['livenessProbe']> {
  const defaults = { timeoutSeconds: 1, periodSeconds: 1, successThreshold: 1, failureThreshold: 3 };
  return { exec: { command: ['check'] }, ...defaults, ...more };
}

/** A pod with a spec of its own. */
export function podOf(name: string, spec: Partial<PodSpec>, uid: string = name): Pod {
  const plain = pod(name, { uid });
  return { ...plain, spec: { ...plain.spec, ...spec } };
}

/** What the folder holds from each time on (milliseconds). */
type Script = readonly (readonly [at: number, pods: readonly Pod[]])[];

/** One agent runs from the beginning until a time (milliseconds), on what the folder says from each time on. */
export function runs(until: number, ...script: Script): (life: Life) => void {
  return ({ agent }) => {
    agent(folder(...script), 0, until);
  };
}

/** The same, but that the agent crashes at a time and another one takes over soon; the folder begins anew for that one. */
export function crashes(at: number, until: number, ...script: Script): (life: Life) => void {
  return ({ agent }) => {
    agent(folder(...script), 0, at);
    agent(folder(...script), at + 50, until);
  };
}

/** The status as the agent keeps it; absent before there is one, and once the pod is forgotten. */
export function statusOf({ disk }: World, uid: string): PodStatus | undefined {
  const path = `/var/lib/rxlet/state/${uid}.json`;
  if (disk.typeOf(path) === 'missing') return undefined;
  return (JSON.parse(disk.readFile(path) ?? '{}') as { readonly status?: PodStatus }).status;
}

export function conditionOf(status: PodStatus | undefined, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.status;
}

/** What became of the containers, in order: `started main 0`, `exited main 0`. */
export function lives(world: World): readonly string[] {
  return world.history
    .filter(({ kind, container }) => container && (kind === 'started' || kind === 'exited'))
    .map(({ kind, container }) => {
      const { name = '', attempt = 0 } = container?.config.metadata ?? {};
      return `${kind} ${name} ${attempt}`;
    });
}

/** When something became of the containers of a name; milliseconds. */
export function times(world: World, kind: 'started' | 'exited', name: string): readonly number[] {
  return world.history
    .filter((one) => one.kind === kind && one.container?.config.metadata?.name === name)
    .map(({ at }) => at);
}

/** A process that answers commands beside it by how long it has run; milliseconds. */
export function answers(exitCode: (age: number) => number, after = 0): ProcessScript {
  const begun = asyncScheduler.now();
  return { exec: () => ({ exitCode: exitCode(asyncScheduler.now() - begun), after }) };
}

/** How many calls of a name there were so far. */
export function count({ calls }: World, name: string): number {
  return calls.filter((call) => call.name === name).length;
}

/** UIDs of the pods that ran, in the order in which their containers started. */
export function ranUids(world: World): readonly unknown[] {
  return world.history
    .filter(({ kind, container }) => kind === 'started' && container)
    .map(({ sandbox }) => sandbox.config.metadata?.uid);
}
