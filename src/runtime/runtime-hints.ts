import {
  catchError,
  defer,
  distinctUntilChanged,
  filter,
  map,
  merge,
  NEVER,
  share,
  startWith,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import { RuntimeError } from '../model/errors.ts';
import type { PodUid } from '../model/pod.ts';
import { uidLabel } from '../model/cri/labels.ts';
import { keepAlive } from '../operators/keep-alive.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Observer } from './observe.ts';

/** How long a cut event stream is left alone, in milliseconds. */
const RETRY = { floor: 500, ceiling: 10_000 };

/** Milliseconds after which an event stream that was not refused counts as open. */
const OPEN = 1_000;

/** What the runtime tells by itself. Neither errors or completes; nothing may depend on it. */
export interface RuntimeHints {
  /** The pods of which it says that something happened: only ever a reason to look sooner. */
  readonly hint$: Observable<PodUid>;
  /** Whether it is being listened to; now and on every change. What happened before it was is told by no hint. */
  readonly listening$: Observable<boolean>;
}

/**
 * Listens to the runtime: to CRI events where it has them, else to its own. Both streams share one listening.
 *
 * ```text
 * CRI events       --e--e--#            cut: listened to again after a while
 * hint$            --u--u------u--      u: uid of the pod
 * listening$       f 999ms t #f         open after a second, until it is cut
 *
 * CRI events       #                    unimplemented (containerd 1.6)
 * task events      --t----t-
 * hint$            --u----u-
 * ```
 */
export function runtimeHints(
  { containerEvents }: Pick<Cri, 'containerEvents'>,
  taskHints: () => Observable<{ readonly containerId: string }>,
  { ownerOf }: Pick<Observer, 'ownerOf'>,
): RuntimeHints {
  const criHint$ = defer(containerEvents).pipe(
    map(({ podSandboxStatus, containerId }) => uidLabel(podSandboxStatus?.labels) ?? ownerOf(containerId ?? '')),
  );
  const taskHint$ = defer(taskHints).pipe(map(({ containerId }) => ownerOf(containerId)));

  const news$ = opened(criHint$).pipe(
    instead<News>(opened(taskHint$).pipe(instead<News>(NEVER))),
    keepAlive<News, boolean>({ ...RETRY, report: () => false }),
    share(),
  );
  return {
    hint$: news$.pipe(filter((news) => typeof news === 'string')),
    listening$: news$.pipe(
      filter((news) => typeof news === 'boolean'),
      startWith(false),
      distinctUntilChanged(),
    ),
  };
}

/** A pod, if it is one of ours; or whether the runtime is being listened to. */
type News = PodUid | undefined | boolean;

function opened(hint$: Observable<PodUid | undefined>): Observable<News> {
  return merge(hint$, timer(OPEN).pipe(map(() => true)));
}

/** Goes over to another way where the runtime does not know this one; every other failure stays one. */
function instead<T>(other$: Observable<T>): (source$: Observable<T>) => Observable<T> {
  return catchError((error: unknown) =>
    error instanceof RuntimeError && error.kind === 'unimplemented' ? other$ : throwError(() => error),
  );
}
