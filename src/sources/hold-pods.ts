import {
  catchError,
  concatMap,
  connect,
  defer,
  distinctUntilChanged,
  filter,
  ignoreElements,
  map,
  merge,
  of,
  scan,
  startWith,
  switchMap,
  tap,
  type Observable,
} from 'rxjs';
import { deepEqual } from '../model/deep-equal.ts';
import type { PodChange } from '../model/desired.ts';
import { messageOf } from '../model/errors.ts';
import type { Pod } from '../model/pod.ts';
import type { PodCommand, PodReply, StopMemory } from '../model/pod-command.ts';
import { conflateMap } from '../operators/conflate-map.ts';
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
 * What is asked by hand is kept in `store` before it is acted on, so that it outlives the agent; one command waits for
 * another, and what the sources say waits for neither. All streams share one run, which never errors; it completes with
 * the sources.
 */
export function holdPods(sources: HeldBack, command$: Observable<PodCommand>, store: StopStore): HeldSources {
  const heard$ = merge(
    sources.batch$.pipe(map((changes): Input => ({ kind: 'batch', changes }))),
    sources.allSeen$.pipe(map((seen): Input => ({ kind: 'allSeen', seen }))),
  );
  const state$ = defer(() => store.load().pipe(catchError(() => of(undefined)))).pipe(
    switchMap((memory) => run(initialHold(memory), heard$, command$, store)),
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
  /** It is kept, unless `failure` says why not. */
  | { readonly kind: 'command'; readonly command: PodCommand; readonly failure?: string };

interface State {
  readonly hold: Hold;
  /** What the last input changed. */
  readonly changes: readonly PodChange[];
  readonly allSeen: boolean;
  /** What came of the last input, where it was a command. */
  readonly answer?: CommandReply;
}

function run(
  hold: Hold,
  heard$: Observable<Input>,
  command$: Observable<PodCommand>,
  store: StopStore,
): Observable<State> {
  return defer(() => {
    let latest: State = { hold, changes: [], allSeen: false };
    let kept = memoryOf(hold);
    function save(memory: StopMemory): Observable<undefined> {
      return store.save(memory).pipe(
        tap(() => {
          kept = memory;
        }),
      );
    }
    function keep(command: PodCommand): Observable<Input> {
      const { hold: next } = obey(latest.hold, command);
      const input: Input = { kind: 'command', command };
      if (next.stopped === latest.hold.stopped) return of(input);
      return save(memoryOf(next)).pipe(
        map(() => input),
        catchError((error: unknown) => of<Input>({ ...input, failure: messageOf(error) })),
      );
    }
    /** What the sources have changed holds, whether it can be kept or not. */
    function tidy(): Observable<undefined> {
      const memory = memoryOf(latest.hold);
      return deepEqual(memory, kept) ? of(undefined) : save(memory);
    }

    return merge(heard$, command$.pipe(concatMap(keep))).pipe(
      scan(step, latest),
      startWith(latest),
      tap((state) => {
        latest = state;
      }),
      connect((shared$) =>
        merge(
          shared$,
          shared$.pipe(conflateMap({ work: () => defer(tidy), recover: () => undefined }), ignoreElements()),
        ),
      ),
    );
  });
}

function step({ hold, allSeen }: State, input: Input): State {
  switch (input.kind) {
    case 'batch':
      return { ...holdBack(hold, input.changes), allSeen };
    case 'allSeen':
      return { hold: input.seen ? prune(hold) : hold, changes: [], allSeen: input.seen };
    case 'command': {
      const { command, failure } = input;
      if (failure !== undefined)
        return { hold, changes: [], allSeen, answer: { command, reply: { kind: 'failed', message: failure } } };
      const { reply, ...held } = obey(hold, command);
      return { ...held, allSeen, answer: { command, reply } };
    }
  }
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
