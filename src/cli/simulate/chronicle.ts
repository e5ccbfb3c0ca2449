import { describeProblem, type Problem } from '../../model/desired.ts';
import type { Pod } from '../../model/pod.ts';
import type { Happening } from '../../simulation/node-objects.ts';
import { emptyBook, type Entry, type PodBook } from '../../streams/book/pod-book.ts';
import type { Happened } from '../../streams/events/event-log.ts';
import { UNKNOWN_RUNTIME } from '../../streams/runtime-state/runtime-state.ts';
import type { PodView } from '../../streams/view/node-view.ts';
import { viewNode } from '../../streams/view/view-node.ts';
import { isAbout, type Someone } from './behaviour.ts';
import type { ContainerOutcome, EventSeen, Outcome, PodOutcome, ProblemSeen, Sight, Span } from './outcome.ts';
import { backOffsOf, isReady, podStateOf, type PodState } from './pod-state.ts';

/** Writes down what becomes of a node, for the one who reads it at the end. */
export interface Chronicle {
  readonly book: (book: PodBook) => void;
  readonly problems: (problems: readonly Problem[]) => void;
  readonly stopped: (pods: readonly Pod[]) => void;
  readonly note: (happened: Happened) => void;
  readonly happening: (happening: Happening) => void;
  readonly call: (name: string, someone: Someone | undefined) => void;
  readonly agent: (isUp: boolean) => void;
  /** The node at this moment. */
  readonly sight: () => Sight;
  readonly tell: () => Pick<Outcome, 'pods' | 'problems' | 'calls' | 'agent'>;
}

type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** All of one full name, whichever pods had it. */
interface Track {
  readonly namespace: string;
  readonly name: string;
  state: PodState;
  readonly states: { at: number; state: PodState }[];
  readonly starts: PodOutcome['starts'][number][];
  readonly ends: PodOutcome['ends'][number][];
  readonly backOffs: Draft<PodOutcome['backOffs'][number]>[];
  /** Those of them that go on. */
  open: readonly Draft<PodOutcome['backOffs'][number]>[];
  readonly events: Map<string, Draft<EventSeen>>;
  readonly calls: Map<string, number>;
}

const NO_BOOK = emptyBook({ runtimeName: '', hostIps: [], update: 'prepare', statuses: new Map() });

/** `passed` tells milliseconds since the beginning. */
export function chronicle(nodeName: string, passed: () => number): Chronicle {
  const tracks = new Map<string, Track>();
  const calls = new Map<string, number>();
  const agents: Draft<Span>[] = [];
  const problems: Draft<ProblemSeen>[] = [];
  let current: readonly Problem[] = [];
  let stopped: readonly Pod[] = [];
  let latest = NO_BOOK;
  let wasWhole = false;
  /** Which page stands for a full name, as it was last looked at. */
  let shown: ReadonlyMap<string, Entry> = new Map();

  const now = (): number => Number((passed() / 1_000).toFixed(3));

  function trackOf(namespace: string, name: string): Track {
    const key = `${namespace}/${name}`;
    const known = tracks.get(key);
    if (known) return known;
    const track: Track = {
      namespace,
      name,
      state: 'absent',
      states: [],
      starts: [],
      ends: [],
      backOffs: [],
      open: [],
      events: new Map(),
      calls: new Map(),
    };
    tracks.set(key, track);
    return track;
  }

  function look(key: string, entry: Entry | undefined): void {
    const [namespace = '', name = ''] = key.split('/');
    const track = trackOf(namespace, name);
    const state = entry ? podStateOf(entry) : 'absent';
    if (state !== track.state) track.states.push({ at: now(), state });
    track.state = state;

    const waiting = entry && state === 'backOff' ? backOffsOf(entry) : [];
    const goingOn = track.open.filter((open) =>
      waiting.some(({ container, reason }) => container === open.container && reason === open.reason),
    );
    for (const open of track.open) if (!goingOn.includes(open)) open.to = now();
    const begun = waiting
      .filter(({ container }) => !goingOn.some((open) => open.container === container))
      .map(({ container, reason }) => ({ container, reason, from: now() }));
    track.backOffs.push(...begun);
    track.open = [...goingOn, ...begun];
  }

  function view(): readonly PodView[] {
    const pleg = { healthy: true, message: '' };
    return viewNode({ book: latest, problems: [], stopped, runtime: UNKNOWN_RUNTIME, pleg }).pods;
  }

  return {
    book: (book) => {
      // An agent that has just started does not know yet what there is.
      if (wasWhole && !(book.allSeen && book.runtimeSeen)) return;
      wasWhole ||= book.allSeen && book.runtimeSeen;
      const isSame = book.entries === latest.entries || sameEntries(latest, book);
      latest = book;
      if (isSame) return;
      const before = shown;
      shown = standing(book);
      for (const [key, entry] of shown) {
        const former = before.get(key);
        if (former?.phase !== entry.phase || former.status !== entry.status) look(key, entry);
      }
      for (const key of before.keys()) if (!shown.has(key)) look(key, undefined);
    },
    problems: (found) => {
      current = found;
      const texts = new Set(found.map(describeProblem));
      for (const one of problems) if (one.to === undefined && !texts.delete(one.message)) one.to = now();
      for (const message of texts) problems.push({ message, from: now() });
    },
    stopped: (pods) => {
      stopped = pods;
    },
    note: ({ of, note: { level: type, reason, container } }) => {
      const { events } = trackOf(of.namespace, of.name);
      const key = `${reason}/${container ?? ''}`;
      const event = events.get(key) ?? { type, reason, ...(container === undefined ? {} : { container }), count: 0 };
      event.count += 1;
      events.set(key, event);
    },
    happening: ({ kind, sandbox, container }) => {
      if (!container || (kind !== 'started' && kind !== 'exited')) return;
      const { namespace = '', name: pod = '' } = sandbox.config.metadata ?? {};
      const track = trackOf(namespace, pod);
      const name = container.config.metadata?.name ?? '';
      if (kind === 'started') track.starts.push({ at: now(), container: name });
      else track.ends.push({ at: now(), container: name, exitCode: container.exitCode, reason: container.reason });
    },
    call: (name, someone) => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      const of = someone && trackOf(someone.namespace, someone.pod).calls;
      of?.set(name, (of.get(name) ?? 0) + 1);
    },
    agent: (isUp) => {
      const last = agents.at(-1);
      if (isUp) agents.push({ from: now() });
      else if (last) last.to = now();
    },
    sight: () => ({
      pods: view(),
      problems: current.map(describeProblem),
      countEvents: (reason, about) =>
        sum(
          [...tracks.values()].flatMap(({ name: pod, namespace, events }) =>
            [...events.values()]
              .filter((event) => event.reason === reason)
              .filter(({ container }) =>
                isAbout(about, { pod, namespace, ...(container === undefined ? {} : { container }) }, nodeName),
              )
              .map(({ count }) => count),
          ),
        ),
      countCalls: (call, about) =>
        about.pod === undefined && about.namespace === undefined
          ? (calls.get(call) ?? 0)
          : sum(
              [...tracks.values()]
                .filter(({ name: pod, namespace }) => isAbout(about, { pod, namespace }, nodeName))
                .map((track) => track.calls.get(call) ?? 0),
            ),
    }),
    tell: () => {
      const views = new Map(view().map((one) => [`${one.pod.metadata.namespace}/${one.pod.metadata.name}`, one]));
      const pods = [...tracks].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return {
        pods: pods.map(([key, track]) => podOutcome(track, views.get(key))),
        problems,
        calls: sorted(calls),
        agent: agents,
      };
    },
  };
}

/** Most pages that are turned change nothing that is to be seen here. */
function sameEntries({ entries: before }: PodBook, { entries }: PodBook): boolean {
  if (before.size !== entries.size) return false;
  for (const [uid, { phase, status }] of entries) {
    const former = before.get(uid);
    if (former?.phase !== phase || former.status !== status) return false;
  }
  return true;
}

/** One page for each full name: that of the pod which has it, or else of the one that is to have it. */
function standing({ entries }: PodBook): ReadonlyMap<string, Entry> {
  const pages = new Map<string, Entry>();
  for (const entry of entries.values()) {
    const key = `${entry.of.namespace}/${entry.of.name}`;
    const other = pages.get(key);
    if (!other || rank(entry) > rank(other)) pages.set(key, entry);
  }
  return pages;
}

function rank({ phase }: Entry): number {
  return phase === 'ended' ? 0 : phase === 'preparing' ? 1 : 2;
}

function podOutcome(track: Track, view: PodView | undefined): PodOutcome {
  const { namespace, name, states, starts, ends, backOffs, events, calls } = track;
  const containers = containersOf(view);
  return {
    namespace,
    name,
    ...(view ? { phase: view.status.phase ?? (view.phase === 'stopped' ? 'Stopped' : 'Pending') } : {}),
    ready: isReady(view?.status),
    restarts: sum(containers.map(({ restarts }) => restarts)),
    ...(view?.note === undefined ? {} : { note: view.note }),
    containers,
    states,
    starts,
    ends,
    backOffs,
    events: [...events.values()],
    calls: sorted(calls),
  };
}

/** The containers of a pod, init containers first. */
export function containersOf(view: PodView | undefined): readonly ContainerOutcome[] {
  const statuses = [...(view?.status.initContainerStatuses ?? []), ...(view?.status.containerStatuses ?? [])];
  return statuses.map(({ name, ready, restartCount: restarts, state = {} }) => {
    const { running, terminated, waiting } = state;
    const reason = terminated?.reason ?? waiting?.reason;
    return {
      name,
      ready,
      restarts,
      state: running ? 'running' : terminated ? 'terminated' : 'waiting',
      ...(reason === undefined ? {} : { reason }),
      ...(terminated ? { exitCode: terminated.exitCode } : {}),
    };
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function sorted(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
