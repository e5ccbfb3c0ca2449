import {
  asyncScheduler,
  catchError,
  defer,
  distinctUntilChanged,
  filter,
  map,
  merge,
  NEVER,
  share,
  startWith,
  switchMap,
  throwError,
  timer,
  withLatestFrom,
  type Observable,
} from 'rxjs';
import type { ContainerEventResponse, ContainerEventType } from '../model/cri/api.ts';
import { RuntimeError } from '../model/errors.ts';
import type { PodUid } from '../model/pod.ts';
import { uidLabel } from '../model/cri/labels.ts';
import { keepAlive } from '../operators/keep-alive.ts';
import type { Became, Hint } from '../streams/pleg/hint.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { TaskEnd } from './cri/known-ends.ts';
import type { Observer } from './observe.ts';

/** How long a cut event stream is left alone, in milliseconds. */
const RETRY = { floor: 500, ceiling: 10_000 };

/** Milliseconds after which an event stream that was not refused counts as open. */
const OPEN = 1_000;

/** What the runtime tells by itself. Neither errors or completes; nothing may depend on it. */
export interface RuntimeHints {
  /** The pods of which it says that something happened: only ever a reason to look sooner. */
  readonly hint$: Observable<Hint>;
  /** Whether it is being listened to; now and on every change. What happened before it was is told by no hint. */
  readonly listening$: Observable<boolean>;
}

/** All that becomes of containers, or only their ends. */
export type TaskEvents = 'all' | 'ends';

export interface RuntimeTaskHint {
  readonly containerId: string;
  readonly became?: Became;
  readonly ended?: TaskEnd;
}

/**
 * Listens to the runtime: to CRI events where it has them, and to its own: there for ends alone, which they tell sooner,
 * and elsewhere for all. Both streams share one listening.
 *
 * ```text
 * CRI events       --e--e--#            cut: listened to again after a while
 * hint$            --u--u------u--      u: the pod, and what has become of which container
 * listening$       f 999ms t #f         open after a second, until it is cut
 *
 * CRI events       #                    unimplemented (containerd 1.6)
 * task events      --t----t-
 * hint$            --u----u-
 *
 * CRI events       -e 998ms ------e-
 * task events         998ms ----x---    listened to after a second; x: an end, with all that is to know of it
 * heard               998ms ----x---
 * hint$            -u 998ms ----u-u-
 *
 * CRI events       (pp)-e-              p: from before it was listened, which the runtime had kept
 * hint$            -----u-
 * ```
 */
export function runtimeHints(
  { containerEvents }: Pick<Cri, 'containerEvents'>,
  taskHints: (about: TaskEvents) => Observable<RuntimeTaskHint>,
  { ownerOf }: Pick<Observer, 'ownerOf'>,
  heard: (containerId: string, end: TaskEnd) => void = () => undefined,
): RuntimeHints {
  const criHint$ = defer(containerEvents).pipe(
    withoutThePast,
    map(({ podSandboxStatus, containerId: id = '', containerEventType: type = 'CONTAINER_CREATED_EVENT' }) =>
      hintOf(uidLabel(podSandboxStatus?.labels) ?? ownerOf(id), id, BECAME[type]),
    ),
  );
  function tasks(about: TaskEvents): Observable<Hint | undefined> {
    return defer(() => taskHints(about)).pipe(
      map(({ containerId, became, ended }) => {
        if (ended) heard(containerId, ended);
        const hint = hintOf(ownerOf(containerId), containerId, became);
        return ended && hint?.about ? { ...hint, about: { ...hint.about, early: true } } : hint;
      }),
    );
  }

  // Not at once: at the start others have more need of the time that a connection takes.
  const endHint$ = timer(OPEN).pipe(
    switchMap(() => tasks('ends')),
    instead<Hint | undefined>(NEVER),
  );

  const news$ = opened(merge(criHint$, endHint$)).pipe(
    instead<News>(opened(tasks('all')).pipe(instead<News>(NEVER))),
    keepAlive<News, boolean>({ ...RETRY, report: () => false }),
    share(),
  );
  return {
    hint$: news$.pipe(filter((news) => typeof news === 'object')),
    listening$: news$.pipe(
      filter((news) => typeof news === 'boolean'),
      startWith(false),
      distinctUntilChanged(),
    ),
  };
}

const BECAME: Readonly<Record<ContainerEventType, Became>> = {
  CONTAINER_CREATED_EVENT: 'created',
  CONTAINER_STARTED_EVENT: 'started',
  CONTAINER_STOPPED_EVENT: 'stopped',
  CONTAINER_DELETED_EVENT: 'deleted',
};

function hintOf(uid: PodUid | undefined, id: string, became: Became | undefined): Hint | undefined {
  if (uid === undefined) return undefined;
  return id === '' || became === undefined ? { uid } : { uid, about: { id, became } };
}

/**
 * Without what had happened before it was listened: containerd keeps minutes of that for whoever comes next. The list that
 * is made when a stream counts as open shows all of it, so nothing is lost should the clock jump.
 */
function withoutThePast(event$: Observable<ContainerEventResponse>): Observable<ContainerEventResponse> {
  return defer(() => {
    const begun = asyncScheduler.now();
    const isPast = ({ createdAt }: ContainerEventResponse): boolean =>
      createdAt !== undefined && createdAt / 1e6 < begun;
    // By a timer: the clock may be set back meanwhile.
    const isOpen$ = timer(OPEN).pipe(
      map(() => true),
      startWith(false),
    );
    return event$.pipe(
      withLatestFrom(isOpen$),
      filter(([event, isOpen]) => isOpen || !isPast(event)),
      map(([event]) => event),
    );
  });
}

/** A hint, if it is about one of ours; or whether the runtime is being listened to. */
type News = Hint | undefined | boolean;

function opened(hint$: Observable<Hint | undefined>): Observable<News> {
  return merge(hint$, timer(OPEN).pipe(map(() => true)));
}

/** Goes over to another way where the runtime does not know this one; every other failure stays one. */
function instead<T>(other$: Observable<T>): (source$: Observable<T>) => Observable<T> {
  return catchError((error: unknown) =>
    error instanceof RuntimeError && error.kind === 'unimplemented' ? other$ : throwError(() => error),
  );
}
