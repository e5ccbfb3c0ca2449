import type { Pod } from '../../src/model/pod.ts';
import { manifest, manyPods } from './many-pods.ts';

/** What one number of pods costs. CPU is that of the agent and of the simulated node together. */
export interface Measures {
  readonly pods: number;
  /** Milliseconds of CPU per pod, from the manifests to all containers running. */
  readonly startPerPod: number;
  /** Milliseconds of CPU per relist and 1,000 pods, all that an idle minute costs included. */
  readonly idlePerRelist: number;
  /** Milliseconds of CPU per container that dies and is started again. */
  readonly perEvent: number;
  /** Milliseconds of CPU per pod that goes, together with one that comes. */
  readonly churnPerPod: number;
  /** Milliseconds of CPU per pod that a new agent finds running. */
  readonly restartPerPod: number;
  /** KiB of heap per pod that the agent holds. */
  readonly heapPerPod: number;
  /** Heap after the churn as a part of that before. */
  readonly heapAfterChurn: number;
}

export const UNITS: readonly { readonly key: Exclude<keyof Measures, 'pods'>; readonly label: string }[] = [
  { key: 'startPerPod', label: 'CPU per pod start, ms' },
  { key: 'idlePerRelist', label: 'CPU per relist and 1,000 pods, idle, ms' },
  { key: 'perEvent', label: 'CPU per container that dies and starts again, ms' },
  { key: 'churnPerPod', label: 'CPU per pod that goes and one that comes, ms' },
  { key: 'restartPerPod', label: 'CPU per pod found running by a new agent, ms' },
  { key: 'heapPerPod', label: 'heap of the agent per pod, KiB' },
  { key: 'heapAfterChurn', label: 'heap after the churn / before' },
];

const CONTAINERS = 3;
const EVENTS = 500;
const BATCH = 100;
const MINUTE = 60_000;

/** Lets a node with so many pods live through all of it. Needs `--expose-gc`. */
export function measureScale(pods: number, churn: number): Measures {
  const node = manyPods();
  let wanted: readonly Pod[] = Array.from({ length: pods }, (_, number) => manifest(number));
  const empty = heap();

  const startCpu = cpuOf(() => {
    node.want(wanted);
    node.start();
    node.until(pods * CONTAINERS);
  });
  node.pass(2 * MINUTE);

  const relists = node.counts().relists;
  const idleCpu = cpuOf(() => {
    node.pass(5 * MINUTE);
  });
  const idleRelists = node.counts().relists - relists;

  const eventCpu = cpuOf(() => {
    const all = node.world.running();
    for (let nth = 0; nth < EVENTS; nth++) {
      const victim = all[Math.floor((nth * all.length) / EVENTS)];
      if (victim) node.kill(victim.id);
      node.pass(100);
    }
  });
  node.pass(MINUTE);

  const before = heap();
  const churnCpu = cpuOf(() => {
    for (let done = 0; done < churn; done += BATCH) {
      const from = done % pods;
      wanted = [...wanted.slice(BATCH), ...Array.from({ length: BATCH }, (_, nth) => manifest(from + nth, done + 1))];
      node.want(wanted);
      node.pass(2_000);
    }
    node.pass(MINUTE);
  });
  const after = heap();

  node.crash();
  const without = heap();
  const restartCpu = cpuOf(() => {
    node.start();
    node.pass(MINUTE);
  });
  node.crash();
  return {
    pods,
    startPerPod: startCpu / pods,
    idlePerRelist: idleCpu / idleRelists / (pods / 1_000),
    perEvent: eventCpu / EVENTS,
    churnPerPod: churnCpu / churn,
    restartPerPod: restartCpu / pods,
    heapPerPod: (after - without) / pods / 1_024,
    heapAfterChurn: (after - empty) / (before - empty),
  };
}

function cpuOf(act: () => void): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Bytes in use, without what is garbage. */
function heap(): number {
  global.gc?.();
  global.gc?.();
  return process.memoryUsage().heapUsed;
}
