import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  filter,
  map,
  merge,
  mergeScan,
  of,
  startWith,
  switchMap,
  type Observable,
} from 'rxjs';
import type { PodChange } from '../model/desired.ts';
import { messageOf } from '../model/errors.ts';
import type { Pod } from '../model/pod.ts';
import type { PodCommand, PodReply, StopMemory } from '../model/pod-command.ts';
import { shareLatest } from '../operators/share-latest.ts';
import { holdBack, initialHold, obey, prune, type Hold } from './hold-back.ts';
import type { PodSources } from './merge-sources.ts';

/** Where it is kept what is stopped. Cold Observables that emit once; both may error. */
export interface StopStore {
  /** Emits `undefined` where nothing is kept. */
  readonly load: () => Observable<StopMemory | undefined>;
  readonly save: (memory: StopMemory) => Observable<undefined>;
}

/** What of the sources is needed downstream. */
type HeldBack = Pick<PodSources, 'batch$' | 'objects$' | 'allSeen$' | 'problem$'>;

export interface HeldSources extends HeldBack {
  /** The pods that are wanted and stopped by hand, now and on every change. */
  readonly stopped$: Observable<readonly Pod[]>;
  /** What came of each command, once it is kept. */
  readonly reply$: Observable<CommandReply>;
}

export interface CommandReply {
  /** The very object that was asked. */
  readonly command: PodCommand;
  readonly reply: PodReply;
}

/**
 * Holds back the pods that people have stopped by hand, until they are started again or their manifests change.
 *
 * ```text
 * batch$    --(pq)-----------------r---     p, q: two pods   r: another version of p
 * command$  --------s----s'---x--------     s: stop p   s': start p   x: stop p
 * result    --(pq)--P----p----P----r---     P: p is removed
 * ```
 *
 * What is stopped is kept in `store` before it is acted on, so that it outlives the agent. All streams share one run,
 * which never errors; it completes with the sources.
 */
export function holdPods(sources: HeldBack, command$: Observable<PodCommand>, store: StopStore): HeldSources {
  const input$ = merge(
    sources.batch$.pipe(map((changes): Input => ({ kind: 'batch', changes }))),
    sources.allSeen$.pipe(map((seen): Input => ({ kind: 'allSeen', seen }))),
    command$.pipe(map((command): Input => ({ kind: 'command', command }))),
  );
  const state$ = defer(() => store.load().pipe(catchError(() => of(undefined)))).pipe(
    map((memory): State => ({ hold: initialHold(memory), changes: [], allSeen: false })),
    // One after the other: what is kept comes before what is acted on.
    switchMap((initial) =>
      input$.pipe(
        mergeScan(
          (state: State, input) => step({ ...state, changes: [], answer: undefined }, input, store),
          initial,
          1,
        ),
        startWith(initial),
      ),
    ),
    shareLatest(),
  );
  return {
    batch$: state$.pipe(
      map(({ hold, changes }, index) => (index === 0 ? everythingAdded(hold) : changes)),
      filter((changes) => changes.length > 0),
    ),
    allSeen$: state$.pipe(
      map(({ allSeen }) => allSeen),
      distinctUntilChanged(),
    ),
    objects$: sources.objects$,
    problem$: sources.problem$,
    stopped$: state$.pipe(
      map(({ hold }) => stoppedPods(hold)),
      distinctUntilChanged((a, b) => a.length === b.length && a.every((pod, index) => pod === b[index])),
    ),
    reply$: state$.pipe(
      map(({ answer }) => answer),
      filter((answer) => answer !== undefined),
    ),
  };
}

type Input =
  | { readonly kind: 'batch'; readonly changes: readonly PodChange[] }
  | { readonly kind: 'allSeen'; readonly seen: boolean }
  | { readonly kind: 'command'; readonly command: PodCommand };

interface State {
  readonly hold: Hold;
  /** What the last input changed. */
  readonly changes: readonly PodChange[];
  readonly allSeen: boolean;
  /** What came of the last input, where it was a command. */
  readonly answer?: CommandReply | undefined;
}

function step(state: State, input: Input, store: StopStore): Observable<State> {
  switch (input.kind) {
    case 'batch':
      return kept(state, holdBack(state.hold, input.changes), store);
    case 'allSeen': {
      const pruned = input.seen ? prune(state.hold) : state.hold;
      return kept({ ...state, allSeen: input.seen }, { hold: pruned, changes: [] }, store);
    }
    case 'command': {
      const { command } = input;
      const { hold, changes, reply } = obey(state.hold, command);
      if (hold.stopped === state.hold.stopped) return of({ ...state, hold, changes, answer: { command, reply } });
      return store.save(memoryOf(hold)).pipe(
        map((): State => ({ ...state, hold, changes, answer: { command, reply } })),
        catchError((error: unknown) =>
          of<State>({ ...state, answer: { command, reply: { kind: 'failed', message: messageOf(error) } } }),
        ),
      );
    }
  }
}

/** What the manifests have changed holds, whether it can be kept or not. */
function kept(
  state: State,
  { hold, changes }: { readonly hold: Hold; readonly changes: readonly PodChange[] },
  store: StopStore,
): Observable<State> {
  const next: State = { ...state, hold, changes };
  if (hold.stopped === state.hold.stopped) return of(next);
  return concat(
    store.save(memoryOf(hold)).pipe(
      catchError(() => of(undefined)),
      filter((): boolean => false),
      map((): State => next),
    ),
    of(next),
  );
}

function memoryOf({ stopped }: Hold): StopMemory {
  return { version: 1, stopped: [...stopped.values()] };
}

function everythingAdded({ wanted, stopped }: Hold): readonly PodChange[] {
  return [...wanted.values()]
    .filter(({ pod }) => !stopped.has(pod.metadata.uid))
    .map(({ source, pod }): PodChange => ({ op: 'add', source, pod }));
}

function stoppedPods({ wanted, stopped }: Hold): readonly Pod[] {
  return [...wanted.values()].flatMap(({ pod }) => (stopped.has(pod.metadata.uid) ? [pod] : []));
}
