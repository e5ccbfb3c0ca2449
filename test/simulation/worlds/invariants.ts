import type { WorldRecord } from './journal.ts';
import { isLeft } from './missing.ts';
import { declaredOf, isRunning, replay, type Instance, type Moment } from './replay.ts';

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
      const isForOthers = [...moment.wanted.values()].some(({ pod }) => pod.metadata.name === begins.pod);
      if (isEnding) return [`${begins.call} for ${begins.uid}, which is ${phase}`];
      return isForOthers ? [] : [`${begins.call} for ${begins.uid}, which nobody wants`];
    }),

  'grace is respected': (record) => replay(record, (entry, moment) => graceless(record, entry, moment)),

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
        const policy = moment.wanted.get(started.uid)?.version.policy;
        const before = newestBefore(started, moment);
        if (policy === undefined || before?.exitCode === undefined || started.name === 'init') return [];
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
      return [`${begins.call} for ${begins.uid}, which was finished at ${at} ms`];
    });
  },

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

/** A call that brings something of a pod to life, and whose pod that is. */
function beginningOf(
  entry: Entry,
  { instances, uidOfSandbox }: Moment,
): { readonly call: string; readonly uid: string; readonly pod: string } | undefined {
  if (entry.kind !== 'call') return undefined;
  const request = entry.request as {
    readonly config?: { readonly metadata?: { readonly uid?: string } };
    readonly podSandboxId?: string;
  };
  const uid =
    entry.name === 'RunPodSandbox'
      ? request.config?.metadata?.uid
      : entry.name === 'CreateContainer'
        ? uidOfSandbox.get(request.podSandboxId ?? '')
        : entry.name === 'StartContainer'
          ? instances.get(idIn(request))?.uid
          : undefined;
  return uid === undefined ? undefined : { call: entry.name, uid, pod: uid.replace(/-\d$/, '') };
}

function idIn(request: unknown): string {
  return (request as { readonly containerId?: string }).containerId ?? '';
}

/** Seconds that the runtime gives at least, and how far off a count of whole seconds may be. */
const LEAST_GRACE = 2;
const ROUNDING = 1_100;

function graceless(record: WorldRecord, entry: Entry, moment: Moment): readonly string[] {
  if (entry.kind !== 'call') return [];
  const request = entry.request as { readonly podSandboxId?: string; readonly timeout?: number };
  switch (entry.name) {
    case 'StopContainer': {
      const instance = moment.instances.get(idIn(request));
      if (!instance || !isRunning(instance)) return [];
      const grace = graceOf(record, instance);
      const { timeout = 0 } = request;
      const passed = entry.at - (instance.stoppedAt ?? entry.at);
      if (passed + timeout * 1_000 < grace * 1_000 - ROUNDING)
        return [`${instance.uid} gets ${timeout} s of ${grace} s`];
      return timeout > Math.max(LEAST_GRACE, grace) ? [`${instance.uid} gets ${timeout} s, and has ${grace} s`] : [];
    }
    case 'RemoveContainer':
    case 'StopPodSandbox':
    case 'RemovePodSandbox':
      return runningNow(moment)
        .filter(({ id, sandboxId }) => id === idIn(request) || sandboxId === request.podSandboxId)
        .filter(moment.isSeen)
        .map(({ uid, name }) => `${entry.name} while ${uid}/${name} runs`);
    default:
      return [];
  }
}

function graceOf({ plan }: WorldRecord, { uid }: Instance): number {
  const [, index = '0', version = '0'] = /^p(\d)-?(\d)?$/.exec(uid) ?? [];
  return plan.pods[Number(index)]?.versions[Number(version)]?.grace ?? 0;
}

function hasReason(record: WorldRecord, instance: Instance, moment: Moment): boolean {
  const { uid, startedAt = 0 } = instance;
  const wanted = moment.wanted.get(uid);
  if (!wanted || since(moment, uid) > startedAt) return true;
  if (moment.deadSandboxes.has(instance.sandboxId)) return true;
  if (moment.phases.get(uid) === 'terminating') return true;
  // A sync that is under way goes on by the manifest that it began with, as the kubelet's does, though that is back.
  if (instance.isOutdated === true) return true;
  const declared = declaredOf(instance, moment.wanted);
  return declared?.livenessProbe !== undefined && mayHaveFailed(record, instance);
}

/** A probe that the script lets fail, or one whose command was not answered well. */
function mayHaveFailed({ plan, calls }: WorldRecord, { id, uid, name, attempt }: Instance): boolean {
  const [, index = '0', version = '0'] = /^p(\d)-?(\d)?$/.exec(uid) ?? [];
  const process = plan.pods[Number(index)]?.versions[Number(version)]?.containers[Number(name.slice(1))];
  if (!process || attempt < process.times) return true;
  return calls.some(
    ({ name: call, request, outcome, at, endedAt = Infinity }) =>
      call === 'ExecSync' && idIn(request) === id && (outcome !== 'ok' || endedAt - at > 900),
  );
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
/** Until the agent has noted for its successor that it restarted a container. */
const NOTING = 3_000;

/** The second restart of a container waits for 10 s at least (facts sheet 9), whoever was the agent meanwhile. */
function hasty(record: WorldRecord, started: Instance, at: number, moment: Moment): readonly string[] {
  const [first, second] = instancesOf(started, moment).slice(-2);
  if (first?.endedAt === undefined || second?.endedAt === undefined || second.startedAt === undefined) return [];
  const isPlain = [first, second].every(
    ({ sandboxId, stoppedAt, image }) =>
      sandboxId === started.sandboxId && stoppedAt === undefined && image === started.image,
  );
  if (!isPlain || since(moment, started.uid) > (first.startedAt ?? 0)) return [];
  if (moment.lastStep.has('setClock')) return [];
  const crash = moment.agentEndedAt;
  const isSameAgent = crash < (first.startedAt ?? 0) - NOTING;
  if (!isSameAgent && (crash < second.startedAt + NOTING || mayForget(record))) return [];
  const waited = at - second.endedAt;
  if (waited >= FIRST_BACKOFF - SLACK) return [];
  return [`${started.uid}/${started.name} ${started.attempt} starts ${waited} ms after the end of the one before`];
}

/** Whether something in this world may have kept an agent from writing down what its successor has to know. */
function mayForget({ plan: { rates, steps } }: WorldRecord): boolean {
  return Object.keys(rates).length > 0 || steps.some((step) => step.do === 'fullDisk' || step.do === 'readOnlyDisk');
}

/** Whether it may not be known any more that a pod has ended: its traces were lost, or never written. */
function forgot(record: WorldRecord, { lastStep, agentEndedAt: crash }: Moment, at: number): boolean {
  return crash > at && (crash < at + NOTING || mayForget(record)) && (lastStep.get('forgetSandboxes') ?? -1) > 0;
}
