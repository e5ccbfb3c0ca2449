import type { PodView } from '../../src/streams/view/node-view.ts';
import type { Gap } from './diff.ts';
import type { Sight } from './live-case.ts';
import { recordingEnd, type Beginning } from './recording-end.ts';
import type { PodRecord, RecordedMoment } from './record.ts';
import { restartTimes } from './recorded-behaviour.ts';

/** One state of a pod or a container, and for how long it was seen, in milliseconds. */
interface Stretch extends Beginning {
  readonly lasted: number;
}

/** The samples of the recording are half a second apart, and its statuses up to a second behind. */
const UNSEEN = 2_000;

/** A pod that starts took so many milliseconds on the recording machine, and takes none here. */
const START_UP = 15_000;
const STARTING = /^Pending|ContainerCreating|PodInitializing/;

/**
 * Compares the orders of states. Every state of the recording that held for a while must come with us, in its order;
 * and every such state of ours must come in the recording. Container states are those of the pod's first UID,
 * then of its second, ...
 */
export function compareTimelines(
  record: PodRecord,
  sights: readonly Sight[],
  { removedAt, until }: { readonly removedAt: number; readonly until: number },
): readonly Gap[] {
  const theirs = segments(record.timeline);
  const ours = lives(sights, record, until);
  const restarts = restartTimes(record);
  return theirs.flatMap((moments, index) => {
    const path = theirs.length === 1 ? 'timeline' : `timeline.${index + 1}`;
    const life = ours[index];
    if (!life) return [{ path, expected: moments.length, got: 'there is no such pod' }];
    const names = new Set([...moments, ...life].flatMap(({ containers = {} }) => Object.keys(containers)));
    const containers = [...names].map((name) => ({
      name,
      theirs: stretches(moments, (moment) => containerState(moment, name)),
      ours: stretches(life, (moment) => containerState(moment, name)),
    }));
    const pod = { theirs: stretches(moments, podState), ours: stretches(life, podState) };
    const ends = [pod, ...containers].map((each) => recordingEnd(each.theirs, each.ours, removedAt));
    return [
      // A pod's state is made of those of its containers: it is known as long as they are.
      ...compareStretches(`${path}.pod`, pod, { end: Math.min(...ends), restart: Math.max(0, ...restarts.values()) }),
      ...containers.flatMap(({ name, ...container }, nth) =>
        compareStretches(`${path}.${name}`, container, {
          end: ends[nth + 1] ?? removedAt,
          restart: restarts.get(name) ?? 0,
          made: lastMade(record, name),
        }),
      ),
    ];
  });
}

function segments(timeline: readonly RecordedMoment[]): readonly (readonly RecordedMoment[])[] {
  const byUid = new Map<string, RecordedMoment[]>();
  for (const moment of timeline) {
    // Served before its first status was made.
    if (moment.phase === 'Pending' && Object.keys(moment.conditions).length === 0) continue;
    const uid = moment.uid ?? '';
    const containers = { ...moment.initContainers, ...moment.containers };
    byUid.set(uid, [...(byUid.get(uid) ?? []), { ...moment, containers }]);
  }
  return [...byUid.values()];
}

function lives(sights: readonly Sight[], { pod }: PodRecord, until: number): readonly (readonly RecordedMoment[])[] {
  const byUid = new Map<string, RecordedMoment[]>();
  const begun = new Set<string>();
  for (const { at, pods } of sights) {
    if (at > until) break;
    for (const view of pods) {
      const { name, namespace, uid } = view.pod.metadata;
      if (name !== pod?.metadata.name || namespace !== pod.metadata.namespace || view.phase === 'terminating') continue;
      if (view.phase !== 'waiting') begun.add(uid);
      byUid.set(uid, [...(byUid.get(uid) ?? []), momentOf(at, view)]);
    }
  }
  // A version that never began is one that the kubelet never served either.
  return [...byUid].flatMap(([uid, moments]) => (begun.has(uid) ? [moments] : []));
}

function momentOf(at: number, { status }: PodView): RecordedMoment {
  const statuses = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  return {
    t: at / 1_000,
    phase: status.phase ?? '',
    conditions: Object.fromEntries(
      (status.conditions ?? []).map(({ type, status: holds, reason }) => [type, reason ? `${holds}/${reason}` : holds]),
    ),
    containers: Object.fromEntries(
      statuses.map(({ name, state, lastState, restartCount, ready, started }) => {
        const last = shortState(lastState);
        return [
          name,
          {
            state: shortState(state) ?? 'waiting',
            restartCount,
            ready,
            started: started ?? null,
            ...(last && { last }),
          },
        ];
      }),
    ),
    ...(status.reason && { reason: status.reason }),
  };
}

type State = NonNullable<NonNullable<PodView['status']['containerStatuses']>[number]['state']>;

function shortState({ running, waiting, terminated }: State = {}): string | undefined {
  if (running) return 'running';
  if (waiting) return waiting.reason ? `waiting:${waiting.reason}` : 'waiting';
  if (terminated) return `terminated:${terminated.reason ?? ''}:${terminated.exitCode}`;
  return undefined;
}

function podState({ phase, conditions, reason }: RecordedMoment): string {
  // The sandbox of a pod that is done is stopped then; how soon that shows is a matter of time.
  const isDone = phase === 'Succeeded' || phase === 'Failed';
  const told = Object.entries(conditions)
    .filter(([type]) => !isDone || type !== 'PodReadyToStartContainers')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, holds]) => `${type}=${holds}`);
  return [phase, ...(reason ? [reason] : []), ...told].join(' ');
}

/**
 * A container that ended and that waits for its next start shows first how it ended and then the back-off, and so does
 * an image that cannot be pulled; when the one becomes the other depends on when it is looked at, so both are one state.
 */
function containerState({ containers }: RecordedMoment, name: string): string | undefined {
  const container = containers?.[name];
  if (!container) return undefined;
  const { state, last, restartCount, ready, started } = container;
  const isBetween = state === 'waiting:CrashLoopBackOff' || state === 'waiting:RunContainerError';
  const shown = (isBetween && last !== undefined ? last : state)
    .replace('terminated', 'ended')
    .replace('waiting:ImagePullBackOff', 'waiting:ErrImagePull');
  const flags = [ready ? 'ready' : '', started ? 'started' : ''];
  return [shown, `restarts=${restartCount}`, ...flags].filter(Boolean).join(' ');
}

function stretches(
  moments: readonly RecordedMoment[],
  stateOf: (moment: RecordedMoment) => string | undefined,
): readonly Stretch[] {
  const result: { state: string; from: number; lasted: number }[] = [];
  for (const moment of moments) {
    const state = stateOf(moment);
    const open = result.at(-1);
    if (open) open.lasted = moment.t * 1_000 - open.from;
    if (state !== undefined && state !== open?.state) result.push({ state, from: moment.t * 1_000, lasted: Infinity });
  }
  const last = result.at(-1);
  if (last) last.lasted = Infinity;
  return result;
}

/** What is known of the recording, for one pod or container. */
interface Known {
  /** The moment of ours at which the recording ends. */
  readonly end: number;
  /** Milliseconds that its slowest restart took, from the creation of the container to its start. */
  readonly restart: number;
  /** The number of the last instance of the container that it made. */
  readonly made?: number;
}

function compareStretches(
  path: string,
  { theirs, ours }: { readonly theirs: readonly Stretch[]; readonly ours: readonly Stretch[] },
  { end, restart, made = 0 }: Known,
): readonly Gap[] {
  const expected = theirs.map(({ state }) => state);
  const got = ours.map(({ state }) => state);
  // What comes after the end of the recording, or was cut off by it, is nobody's fault.
  const missing = firstMissing(trimEnd(untilLastRestart(lasting(theirs), got, made), got), got);
  const begun = lasting(
    ours.filter(({ from }) => from < end),
    restart,
  );
  const extra = firstMissing(trimEnd(untilLastRestart(begun, expected, made), expected), expected);
  return [
    ...(missing === undefined ? [] : [{ path: `${path} (${missing.after})`, expected: missing.state }]),
    ...(extra === undefined ? [] : [{ path: `${path} (${extra.after})`, got: extra.state }]),
  ];
}

/**
 * The states that held so long that nobody could overlook them. The kubelet shows nothing of a pod while it makes a
 * container anew: what is down meanwhile (`restart` milliseconds) was up to all that looked.
 */
function lasting(stretches: readonly Stretch[], restart = 0): readonly string[] {
  return stretches
    .filter(({ state, lasted }) => {
      if (STARTING.test(state)) return lasted >= START_UP;
      return lasted >= UNSEEN + (DOWN.test(state) ? restart : 0);
    })
    .map(({ state }) => state);
}

const DOWN = /^ended|^waiting|ContainersReady=False/;

/**
 * Without the states of its last restart, when the other one ends with the instance before: whether there is one more
 * until the end depends on its very moment. The first restart of all has no such excuse, but that the recording went
 * on to it (`made`) when nobody looked at its statuses any more.
 */
function untilLastRestart(states: readonly string[], other: readonly string[], made: number): readonly string[] {
  const [last, others] = [Math.max(0, ...states.map(restartsIn)), Math.max(0, ...other.map(restartsIn))];
  const isAtTheEnd = last === others + 1 && (last >= 2 || made >= last);
  return isAtTheEnd ? states.filter((state) => restartsIn(state) < last) : states;
}

/** The number of the last instance of a container that the recording made. */
function lastMade({ cri }: PodRecord, container: string): number {
  const attempts = cri.map(({ call, name, attempt = 0 }) =>
    call === 'CreateContainer' && name === container ? attempt : 0,
  );
  return Math.max(0, ...attempts);
}

function restartsIn(state: string): number {
  return Number(/ restarts=(\d+)/.exec(state)?.[1] ?? 0);
}

/** Without its last states, up to two, when the other one has not come so far: a restart may fall beyond the end. */
function trimEnd(states: readonly string[], other: readonly string[]): readonly string[] {
  if (states.length < 4) return states;
  const last = states.findLastIndex((state) => other.includes(state));
  return last >= states.length - 3 ? states.slice(0, last + 1) : states;
}

/** The first state that does not come in its turn, and after which one it should have come. */
function firstMissing(
  part: readonly string[],
  whole: readonly string[],
): { readonly state: string; readonly after: string } | undefined {
  let from = 0;
  let after = 'at first';
  for (const state of part) {
    const index = whole.indexOf(state, from);
    if (index < 0) return { state, after };
    from = index; // the same state may stand for two looks at it
    after = `after ${state}`;
  }
  return undefined;
}
