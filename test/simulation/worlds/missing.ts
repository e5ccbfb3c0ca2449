import type { SimulatedContainer } from '../../../src/simulation/node-objects.ts';
import type { World } from '../../../src/simulation/simulated-node.ts';
import type { PodPhase } from '../../../src/streams/book/pod-book.ts';
import type { Entry } from './journal.ts';
import type { PlannedPod } from './planned-pods.ts';

const PODS = '/var/lib/rxlet/pods';
const LOGS = '/var/log/pods';
const STATE = '/var/lib/rxlet/state';

/** What keeps observed from being as desired; empty when all is well. */
export function missingIn(
  world: World,
  wanted: ReadonlyMap<string, PlannedPod>,
  phases: ReadonlyMap<string, PodPhase>,
  entries: readonly Entry[],
): readonly string[] {
  const { disk } = world;
  const list = (path: string): readonly string[] => (disk.typeOf(path) === 'missing' ? [] : disk.list(path));
  const isWanted = (uid: string | undefined): boolean => uid !== undefined && wanted.has(uid);
  const uidOf = new Map(world.sandboxes().map(({ id, config }) => [id, config.metadata?.uid ?? '']));
  const containersOf = (uid: string): readonly SimulatedContainer[] =>
    world.containers().filter(({ sandboxId }) => uidOf.get(sandboxId) === uid);

  const strangers = [
    ...[...uidOf.values()].filter((uid) => !isWanted(uid)).map((uid) => `a sandbox of ${uid} is left`),
    ...list(PODS)
      .filter((uid) => !isWanted(uid))
      .map((uid) => `the folder of ${uid} is left`),
    ...list(LOGS)
      .filter((name) => !isWanted(name.split('_').at(-1)))
      .map((name) => `the logs ${name} are left`),
    ...list(STATE)
      .filter((name) => !isWanted(name.replace('.json', '')))
      .map((name) => `the checkpoint ${name} is left`),
    ...[...disk.mounts]
      .filter((target) => !isWanted(target.split('/')[5]))
      .map((target) => `the mount ${target} is left`),
    ...[...phases.keys()].filter((uid) => !isWanted(uid)).map((uid) => `the book still has ${uid}`),
  ];

  function missingOf(uid: string, { pod: { spec }, version }: PlannedPod): readonly string[] {
    const ready = world.sandboxes().filter(({ config, state }) => config.metadata?.uid === uid && state === 'ready');
    const containers = containersOf(uid);
    const running = containers.filter(({ state }) => state === 'running');
    const phase = phases.get(uid);
    if (phase === 'finished') {
      const ups = [...ready, ...running].map(({ id }) => `${uid} is finished, but ${id.slice(0, 6)} is up`);
      return mayBeFinished(uid, version.policy, entries) ? ups : [...ups, `${uid} is finished, but should run`];
    }
    if (phase !== 'syncing') return [`${uid} is ${phase ?? 'not in the book'}`];
    if (ready.length !== 1) return [`${uid} has ${ready.length} ready sandboxes`];
    return spec.containers.flatMap(({ name, image = '' }) => {
      const ofName = containers
        .filter(({ config }) => config.metadata?.name === name)
        .toSorted((a, b) => (b.config.metadata?.attempt ?? 0) - (a.config.metadata?.attempt ?? 0));
      const [newest] = ofName;
      const up = ofName.filter(({ state }) => state === 'running');
      if (up.length > 1) return [`${uid}/${name} runs ${up.length} times`];
      if (newest?.state === 'exited' && isLeft(version.policy, newest.exitCode)) return [];
      if (newest?.state !== 'running') return [`${uid}/${name} does not run`];
      if (newest.sandboxId !== ready[0]?.id) return [`${uid}/${name} runs in an old sandbox`];
      return newest.config.image?.userSpecifiedImage === image ? [] : [`${uid}/${name} runs another image`];
    });
  }

  return [...strangers, ...[...wanted].flatMap(([uid, one]) => missingOf(uid, one))];
}

export function isLeft(policy: string, exitCode: number): boolean {
  return policy === 'Never' || (policy === 'OnFailure' && exitCode === 0);
}

/** Every one of its containers, or the init container that keeps them from starting, has ended for good once. */
function mayBeFinished(uid: string, policy: string, entries: readonly Entry[]): boolean {
  return entries.some(
    (entry) =>
      entry.kind === 'happening' &&
      entry.happening.kind === 'exited' &&
      entry.happening.sandbox.config.metadata?.uid === uid &&
      entry.happening.container !== undefined &&
      isLeft(policy, entry.happening.container.exitCode),
  );
}
