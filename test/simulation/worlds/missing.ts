import type { PodStatus } from '../../../src/model/pod.ts';
import type { Workload } from '../../../src/model/workloads/workload.ts';
import type { SimulatedContainer } from '../../../src/simulation/node-objects.ts';
import type { World } from '../../../src/simulation/simulated-node.ts';
import type { PodPhase } from '../../../src/streams/book/pod-book.ts';
import type { Entry } from './journal.ts';
import { imageGcOf, isOld } from './planned-images.ts';
import { fillingOf, processOf, type PlannedPod } from './planned-pods.ts';
import type { ImagesPlan, VersionPlan } from './world-plan.ts';

const PODS = '/var/lib/rxlet/pods';
const LOGS = '/var/log/pods';
const STATE = '/var/lib/rxlet/state';

/** What the agent has to say, and what came to pass. */
interface Told {
  readonly phases: ReadonlyMap<string, PodPhase>;
  readonly statuses: ReadonlyMap<string, PodStatus>;
  readonly entries: readonly Entry[];
  /** What is wanted of workloads. */
  readonly workloads: readonly Workload[];
  /** The disk with the images, where they are cleared away. */
  readonly images: ImagesPlan | undefined;
}

/** What keeps observed from being as desired; empty when all is well. */
export function missingIn(
  world: World,
  wanted: ReadonlyMap<string, PlannedPod>,
  { phases, statuses, entries, workloads, images }: Told,
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

  const uidsOf = ({ metadata: { name } }: Workload): readonly string[] =>
    [...wanted].filter(([, { pod }]) => pod.metadata.name.startsWith(`${name}-`)).map(([uid]) => uid);
  const short = workloads.flatMap((workload) => {
    const uids = uidsOf(workload);
    if (workload.kind !== 'Deployment')
      return uids.filter((uid) => phases.get(uid) !== 'finished').map((uid) => `${uid} of a Job is under way`);
    const replicas = uids.length === workload.replicas ? [] : [`${uids.length} of ${workload.replicas} replicas`];
    const { image } = workload.template.spec?.containers?.[0] ?? {};
    const old = uids.filter((uid) => wanted.get(uid)?.pod.spec.containers[0]?.image !== image);
    return [...replicas, ...old.map((uid) => `${uid} is of the version before`)];
  });

  function isReadyAsSaid(uid: string, version: VersionPlan | undefined, name: string): boolean {
    const process = version && processOf(version, name);
    const { containerStatuses = [], initContainerStatuses = [] } = statuses.get(uid) ?? {};
    const told = [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name);
    return told?.ready === (process?.readiness !== 'never');
  }

  /** Where the status says something else of a container that runs, or of the one before. */
  function wronglyTold(uid: string, newest: SimulatedContainer, former?: SimulatedContainer): readonly string[] {
    const { name = '', attempt = 0 } = newest.config.metadata ?? {};
    const { containerStatuses = [], initContainerStatuses = [] } = statuses.get(uid) ?? {};
    const told = [...containerStatuses, ...initContainerStatuses].find((status) => status.name === name);
    const last = told?.lastState?.terminated;
    const isCurrent = told?.state?.running !== undefined && told.containerID?.endsWith(newest.id) === true;
    if (!isCurrent) return [`${uid}/${name} runs, and is not shown so`];
    if (told.restartCount !== attempt)
      return [`${uid}/${name} is shown with ${told.restartCount} restarts, not ${attempt}`];
    if (former?.state !== 'exited') return [];
    return last?.exitCode === former.exitCode && last.reason === former.reason
      ? []
      : [
          `${uid}/${name} ended with ${former.exitCode} ${former.reason} before, and is shown with ${JSON.stringify(last)}`,
        ];
  }

  function missingOf(uid: string, { pod: { spec }, version }: PlannedPod): readonly string[] {
    const policy = spec.restartPolicy ?? 'Always';
    const ready = world.sandboxes().filter(({ config, state }) => config.metadata?.uid === uid && state === 'ready');
    const containers = containersOf(uid);
    const running = containers.filter(({ state }) => state === 'running');
    const phase = phases.get(uid);
    if (phase === 'finished') {
      const ups = [...ready, ...running].map(({ id }) => `${uid} is finished, but ${id.slice(0, 6)} is up`);
      return mayBeFinished(uid, policy, entries) ? ups : [...ups, `${uid} is finished, but should run`];
    }
    if (phase === 'syncing' && disk.typeOf(fillingOf(uid)) !== 'missing') return [`${uid} takes too much of the disk`];
    if (phase !== 'syncing') return [`${uid} is ${phase ?? 'not in the book'}`];
    if (ready.length !== 1) return [`${uid} has ${ready.length} ready sandboxes`];
    const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    return [...sidecars, ...spec.containers].flatMap(({ name, image = '', restartPolicy = policy }) => {
      const ofName = containers
        .filter(({ config }) => config.metadata?.name === name)
        .toSorted((a, b) => (b.config.metadata?.attempt ?? 0) - (a.config.metadata?.attempt ?? 0));
      const [newest] = ofName;
      const up = ofName.filter(({ state }) => state === 'running');
      if (up.length > 1) return [`${uid}/${name} runs ${up.length} times`];
      if (newest?.state === 'exited' && isLeft(restartPolicy, newest.exitCode)) return [];
      if (newest?.state !== 'running') return [`${uid}/${name} does not run`];
      if (newest.sandboxId !== ready[0]?.id) return [`${uid}/${name} runs in an old sandbox`];
      if (newest.config.image?.userSpecifiedImage !== image) return [`${uid}/${name} runs another image`];
      if (!isReadyAsSaid(uid, version, name)) return [`${uid}/${name} is not as ready as its probe says`];
      return wronglyTold(uid, newest, ofName[1]);
    });
  }

  return [
    ...strangers,
    ...short,
    ...(images ? spareImages(world, images) : []),
    ...[...wanted].flatMap(([uid, one]) => missingOf(uid, one)),
  ];
}

/** What could go, and should, while the disk with the images is full. */
function spareImages(world: World, plan: ImagesPlan): readonly string[] {
  const { capacity, limits } = imageGcOf(plan);
  const all = world.images();
  const used = all.reduce((sum, { size = 0 }) => sum + size, 0);
  if (used * 100 < capacity * limits.highThresholdPercent) return [];
  return all.filter(isOld).map(({ repoTags }) => `the disk is full, and ${repoTags?.[0] ?? ''} is there`);
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
      entry.happening.container.config.metadata?.name?.startsWith('s') !== true &&
      isLeft(policy, entry.happening.container.exitCode),
  );
}
