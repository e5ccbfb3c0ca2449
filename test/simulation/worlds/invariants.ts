import type { ExecSyncRequest } from '../../../src/model/cri/api.ts';
import { backTooSoon, evictedForNothing, outlivesItsEnd, worthMoreKilled } from './eviction-checks.ts';
import { moreImagesGoThanMust, neededImageGoes, usedImageGoesFirst } from './image-checks.ts';
import type { WorldRecord } from './journal.ts';
import { isLeft } from './missing.ts';
import { processOf, type PlannedPod } from './planned-pods.ts';
import {
  beginningOf,
  declaredOf,
  idIn,
  isRunning,
  mayForget,
  NOTING,
  replay,
  type Instance,
  type Moment,
} from './replay.ts';

type Check = (record: WorldRecord) => readonly string[];

/** What must hold in every world, whatever happens in it. */
export type Invariant =
  | 'never two running copies of one full name'
  | 'never two running containers of one name in a pod'
  | 'a kill is never lost'
  | 'grace is respected'
  | 'no container is ended without a reason'
  | 'no container starts again that is done'
  | 'a container that ends again and again waits'
  | 'volumes are never removed under a running container'
  | 'nothing is started for a pod that is finished'
  | 'nothing starts before its turn'
  | 'what has ended runs no more'
  | 'only who takes too much is evicted'
  | 'an evicted pod stays away for its time'
  | 'who asked for memory is killed last'
  | 'no image goes that somebody needs'
  | 'no more images go than must'
  | 'images that were used go last'
  | 'the streams of the agent never end'
  | 'when faults stop, observed equals desired soon'
  | 'nothing throws';

const INVARIANTS: Readonly<Record<Invariant, Check>> = {
  'never two running copies of one full name': (record) =>
    replay(record, (entry, moment) =>
      startsIn(entry, moment).flatMap(({ started, running }) =>
        running
          .filter((other) => other.pod === started.pod && other.uid !== started.uid)
          .map((other) => `${started.uid}/${started.name} started while ${other.uid}/${other.name} ran`),
      ),
    ),

  'never two running containers of one name in a pod': (record) =>
    replay(record, (entry, moment) =>
      startsIn(entry, moment).flatMap(({ started, running }) =>
        running
          .filter((other) => other.uid === started.uid && other.name === started.name)
          .map((other) => `${started.uid}/${started.name} ${started.attempt} started while ${other.attempt} ran`),
      ),
    ),

  'a kill is never lost': (record) =>
    replay(record, (entry, moment) => {
      const begins = beginningOf(entry, moment);
      if (begins === undefined) return [];
      const phase = moment.phases.get(begins.uid);
      const isEnding = phase === 'terminating' || phase === 'ended';
      const name = moment.known.get(begins.uid)?.pod.metadata.name;
      const isForOthers = [...moment.wanted.values()].some(({ pod }) => pod.metadata.name === name);
      if (isEnding) return [`${begins.call} for ${begins.uid}, which is ${phase}`];
      return isForOthers ? [] : [`${begins.call} for ${begins.uid}, which nobody wants`];
    }),

  'grace is respected': (record) => replay(record, graceless),

  'no container is ended without a reason': (record) =>
    replay(record, (entry, moment) => {
      if (entry.kind !== 'call' || entry.name !== 'StopContainer') return [];
      const instance = moment.instances.get(idIn(entry.request));
      if (!instance || !isRunning(instance) || hasReason(record, instance, moment)) return [];
      return [`${instance.uid}/${instance.name} is asked to end`];
    }),

  'no container starts again that is done': (record) =>
    replay(record, (entry, moment) =>
      startsIn(entry, moment).flatMap(({ started }) => {
        const { restartPolicy: policy } = moment.wanted.get(started.uid)?.pod.spec ?? {};
        const before = newestBefore(started, moment);
        const isInit = started.name === 'init' || isSidecar(started);
        if (policy === undefined || before?.exitCode === undefined || isInit) return [];
        const { isGone, stoppedAt, endedAt = 0, exitCode } = before;
        const isExcused = isGone === true || stoppedAt !== undefined || since(moment, started.uid) > endedAt;
        if (isExcused || !isLeft(policy, exitCode)) return [];
        return [`${started.uid}/${started.name} starts after exit code ${exitCode} under ${policy}`];
      }),
    ),

  'a container that ends again and again waits': (record) =>
    replay(record, (entry, moment) =>
      startsIn(entry, moment).flatMap(({ started }) => hasty(record, started, entry.at, moment)),
    ),

  'volumes are never removed under a running container': (record) =>
    replay(record, (entry, moment) => {
      if (entry.kind !== 'call' || !/^(files\.removeTree|mounts\.unmount)$/.test(entry.name)) return [];
      const path = JSON.stringify(entry.request);
      const uid = /\/var\/lib\/rxlet\/pods\/([^/"]+)/.exec(path)?.[1];
      return runningNow(moment)
        .filter((instance) => instance.uid === uid && moment.isSeen(instance))
        .map(({ name }) => `${entry.name} ${path} while ${uid ?? ''}/${name} runs`);
    }),

  'nothing is started for a pod that is finished': (record) => {
    const finished = new Map<string, number>();
    return replay(record, (entry, moment) => {
      if (entry.kind === 'wanted') for (const uid of finished.keys()) if (!entry.wanted.has(uid)) finished.delete(uid);
      if (entry.kind === 'phase') {
        if (entry.phase === 'finished') finished.set(entry.uid, entry.at);
        if (entry.phase === 'terminating' || entry.phase === 'ended') finished.delete(entry.uid);
      }
      const begins = beginningOf(entry, moment);
      const at = begins && finished.get(begins.uid);
      if (!begins || at === undefined || at === entry.at || forgot(record, moment, at)) return [];
      if (mayBeEvicted(begins.uid, moment)) return [];
      return [`${begins.call} for ${begins.uid}, which was finished at ${at} ms`];
    });
  },

  'nothing starts before its turn': (record) =>
    replay(record, (entry, moment) =>
      startsIn(entry, moment).flatMap(({ started }) => tooEarly(started, entry.at, moment)),
    ),

  'what has ended runs no more': outlivesItsEnd,
  'only who takes too much is evicted': evictedForNothing,
  'an evicted pod stays away for its time': backTooSoon,
  'who asked for memory is killed last': worthMoreKilled,
  'no image goes that somebody needs': neededImageGoes,
  'no more images go than must': moreImagesGoThanMust,
  'images that were used go last': usedImageGoesFirst,

  'the streams of the agent never end': ({ entries }) =>
    entries
      .filter((entry) => entry.kind === 'streamEnd')
      .map(
        ({ at, stream, error }) => `${at} ms: ${stream} ended: ${error instanceof Error ? (error.stack ?? '') : ''}`,
      ),

  'when faults stop, observed equals desired soon': ({ settledAt, missing }) =>
    settledAt === undefined ? [`still at the end: ${missing.join('; ')}`] : [],

  'nothing throws': ({ failures }) => failures,
};

/** `invariant: what was seen`, for each that does not hold. */
export function violations(record: WorldRecord): readonly string[] {
  return Object.entries<Check>(INVARIANTS).flatMap(([name, check]) => {
    const found = check(record);
    const more = found.length > 3 ? [`and ${found.length - 3} more`] : [];
    return [...found.slice(0, 3), ...more].map((what) => `${name}: ${what}`);
  });
}

type Entry = WorldRecord['entries'][number];

function runningNow({ instances }: Moment): readonly Instance[] {
  return [...instances.values()].filter(isRunning);
}

/** A container that starts now, and what runs already. */
function startsIn(
  entry: Entry,
  moment: Moment,
): readonly { readonly started: Instance; readonly running: readonly Instance[] }[] {
  if (entry.kind !== 'happening' || entry.happening.kind !== 'started' || !entry.happening.container) return [];
  const started = moment.instances.get(entry.happening.container.id);
  return started ? [{ started, running: runningNow(moment) }] : [];
}

/** Seconds that the runtime gives at least, and how far off a count of whole seconds may be. */
const LEAST_GRACE = 2;
const ROUNDING = 1_100;

function graceless(entry: Entry, moment: Moment): readonly string[] {
  if (entry.kind !== 'call') return [];
  const request = entry.request as { readonly podSandboxId?: string; readonly timeout?: number };
  switch (entry.name) {
    case 'StopContainer': {
      const instance = moment.instances.get(idIn(request));
      if (!instance || !isRunning(instance)) return [];
      const { terminationGracePeriodSeconds: grace = 0 } = moment.known.get(instance.uid)?.pod.spec ?? {};
      const { timeout = 0 } = request;
      const passed = entry.at - endingSince(instance, moment, entry.at);
      // What takes too much of the disk gets no more time (facts sheet 24: a second).
      if (timeout <= LEAST_GRACE && mayBeEvicted(instance.uid, moment)) return [];
      if (passed + timeout * 1_000 < grace * 1_000 - ROUNDING)
        return [`${instance.uid} gets ${timeout} s of ${grace} s`];
      return timeout > Math.max(LEAST_GRACE, grace) ? [`${instance.uid} gets ${timeout} s, and has ${grace} s`] : [];
    }
    case 'RemoveContainer':
    case 'StopPodSandbox':
    case 'RemovePodSandbox':
      return (
        runningNow(moment)
          .filter(({ id, sandboxId }) => id === idIn(request) || sandboxId === request.podSandboxId)
          .filter(moment.isSeen)
          // What a call that was given up starts in a pod that has ended may be seen while its clean-up, which looked
          // before, goes on; the kubelet gives no grace to what nobody wants either.
          .filter(({ uid, startedAt = 0 }) => startedAt < (moment.endedSince.get(uid) ?? Infinity))
          .map(({ uid, name }) => `${entry.name} while ${uid}/${name} runs`)
      );
    default:
      return [];
  }
}

function isSidecar({ name }: Instance): boolean {
  return name.startsWith('s');
}

/** Sidecars have what is left of the grace when the others have ended. */
function endingSince(instance: Instance, { instances }: Moment, now: number): number {
  const own = instance.stoppedAt ?? now;
  if (!isSidecar(instance)) return own;
  const others = [...instances.values()].filter(({ sandboxId }) => sandboxId === instance.sandboxId);
  return Math.min(own, ...others.map(({ stoppedAt = now, endedAt = now }) => Math.min(stoppedAt, endedAt)));
}

function hasReason(record: WorldRecord, instance: Instance, moment: Moment): boolean {
  const { uid, startedAt = 0 } = instance;
  const wanted = moment.wanted.get(uid);
  if (!wanted || since(moment, uid) > startedAt) return true;
  if (moment.deadSandboxes.has(instance.sandboxId)) return true;
  if (moment.phases.get(uid) === 'terminating') return true;
  // A sync that is under way goes on by the manifest that it began with, as the kubelet's does, though that is back.
  if (instance.isOutdated === true) return true;
  if (mayBeEvicted(uid, moment)) return true;
  if (isSidecar(instance) && isDone(wanted, instance, moment)) return true;
  const declared = declaredOf(instance, moment.wanted);
  const isAsked = declared?.livenessProbe !== undefined || declared?.startupProbe !== undefined;
  return (isAsked || declared?.lifecycle?.postStart !== undefined) && mayHaveFailed(record, instance, moment);
}

/** Whether somebody has filled its disk, so that it is ended and begins anew. */
function mayBeEvicted(uid: string, { known, lastStep }: Moment): boolean {
  return known.get(uid)?.version?.limited !== undefined && lastStep.has('fill');
}

/** Whether no regular container of a pod will run any more, be it that none ever can: then its sidecars are ended. */
function isDone({ pod: { spec } }: PlannedPod, { uid }: Instance, { instances }: Moment): boolean {
  const { restartPolicy = 'Always', containers, initContainers = [] } = spec;
  const exitOf = (name: string): number | undefined =>
    [...instances.values()].findLast((one) => one.uid === uid && one.name === name)?.exitCode;
  const hasFailed = initContainers.some(
    (one) => one.restartPolicy === undefined && restartPolicy === 'Never' && (exitOf(one.name) ?? 0) !== 0,
  );
  return (
    hasFailed ||
    containers.every(({ name }) => {
      const exitCode = exitOf(name);
      return exitCode !== undefined && isLeft(restartPolicy, exitCode);
    })
  );
}

/** In a sandbox, init containers and sidecars come one after another, and the others when all of those are there. */
function tooEarly(started: Instance, at: number, { instances, wanted, known }: Moment): readonly string[] {
  const { containers = [], initContainers = [] } = wanted.get(started.uid)?.pod.spec ?? {};
  const inSandbox = [...instances.values()].filter(
    ({ id, sandboxId, startedAt }) => sandboxId === started.sandboxId && startedAt !== undefined && id !== started.id,
  );
  const began = (name: string): readonly Instance[] => inSandbox.filter((one) => one.name === name);
  // What once came so far in a sandbox need not wait there again.
  if (began(started.name).length > 0) return [];
  const isRegular = containers.some(({ name }) => name === started.name);
  if (isRegular && containers.some(({ name }) => began(name).length > 0)) return [];
  const place = initContainers.findIndex(({ name }) => name === started.name);
  const before = isRegular ? initContainers : initContainers.slice(0, Math.max(0, place));
  return before
    .filter(({ name, restartPolicy }) => {
      if (restartPolicy !== 'Always') return !began(name).some(({ exitCode }) => exitCode === 0);
      const version = known.get(started.uid)?.version;
      const { startup = 0 } = (version && processOf(version, name)) ?? {};
      return !began(name).some(({ createdAt = at }) => at - createdAt >= startup);
    })
    .map(({ name }) => `${started.uid}/${started.name} starts before ${name} is there`);
}

/** A probe or a postStart hook that the script lets fail, or one whose command was not answered well. */
function mayHaveFailed({ calls }: WorldRecord, { id, uid, name, attempt }: Instance, { known }: Moment): boolean {
  const version = known.get(uid)?.version;
  const process = version && processOf(version, name);
  if (!process || attempt < process.times) return true;
  return calls.some(({ name: call, request, outcome, at, endedAt = Infinity }) => {
    if (call !== 'ExecSync' || idIn(request) !== id) return false;
    const isHook = (request as ExecSyncRequest).cmd?.[0]?.startsWith('p') === true;
    return outcome !== 'ok' || (!isHook && endedAt - at > 900);
  });
}

/** When a pod was last wanted anew. */
function since({ wantedSince }: Moment, uid: string): number {
  return wantedSince.get(uid) ?? Infinity;
}

function instancesOf({ uid, name, id }: Instance, { instances }: Moment): readonly Instance[] {
  return [...instances.values()].filter(
    (other) => other.uid === uid && other.name === name && other.id !== id && other.startedAt !== undefined,
  );
}

function newestBefore(started: Instance, moment: Moment): Instance | undefined {
  return instancesOf(started, moment).at(-1);
}

/** The least wait after the second of two ends, and what it may be short of that. Milliseconds. */
const FIRST_BACKOFF = 10_000;
const SLACK = 200;
/**
 * The second restart of a container waits for 10 s at least, and the third for 20 s (facts sheet 9), whoever was the
 * agent meanwhile.
 */
function hasty(record: WorldRecord, started: Instance, at: number, moment: Moment): readonly string[] {
  const former = instancesOf(started, moment);
  const last = former.at(-1);
  if (last?.endedAt === undefined) return [];
  const waited = at - last.endedAt;
  return [2, 3]
    .filter((many) => isKnownToCrash(record, started, former.slice(-many), many, moment))
    .filter((many) => waited < FIRST_BACKOFF * (many - 1) - SLACK)
    .map(() => `${started.uid}/${started.name} ${started.attempt} starts ${waited} ms after the end of the one before`);
}

/** Whether so many instances before this one ended by themselves, and the agent must know that. */
function isKnownToCrash(
  record: WorldRecord,
  started: Instance,
  row: readonly Instance[],
  many: number,
  moment: Moment,
): boolean {
  const isPlain = row.every(
    ({ sandboxId, stoppedAt, endedAt, image }) =>
      sandboxId === started.sandboxId && stoppedAt === undefined && endedAt !== undefined && image === started.image,
  );
  const [first, last] = [row[0]?.startedAt ?? 0, row.at(-1)?.startedAt ?? 0];
  if (!isPlain || row.length < many || since(moment, started.uid) > first) return false;
  if (moment.lastStep.has('setClock')) return false;
  const crash = moment.agentEndedAt;
  return crash < first - NOTING || (crash >= last + NOTING && !mayForget(record));
}

/** Whether it may not be known any more that a pod has ended: its traces were lost, or never written. */
function forgot(record: WorldRecord, { lastStep, agentEndedAt: crash }: Moment, at: number): boolean {
  return crash > at && (crash < at + NOTING || mayForget(record)) && (lastStep.get('forgetSandboxes') ?? -1) > 0;
}
