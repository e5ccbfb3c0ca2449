import {
  asyncScheduler,
  catchError,
  defer,
  distinctUntilChanged,
  exhaustMap,
  filter,
  forkJoin,
  map,
  of,
  switchMap,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import type { StatusResponse, VersionResponse } from '../../model/cri/api.ts';
import { messageOf } from '../../model/errors.ts';
import type { Cri } from '../ports/cri.ts';

/** How the runtime is, by its own word. */
export interface RuntimeState {
  /** It runs containers. */
  readonly ready: boolean;
  /** It gives pods a network; without it only pods on the node's network can start. */
  readonly networkReady: boolean;
  /** Why it is not ready; empty when all is well. */
  readonly message: string;
  readonly name: string;
  readonly version: string;
}

export const UNKNOWN_RUNTIME: RuntimeState = {
  ready: false,
  networkReady: false,
  message: 'the container runtime has not answered yet',
  name: '',
  version: '',
};

/** Milliseconds for which the version of a runtime that answers is taken to be the same (kubelet: a minute). */
const SAME_VERSION = 60_000;

/** While the runtime is well and tells its events, it is asked at every so many periods only. */
const CALM = 4;

/**
 * Asks the runtime how it is: at once, then every `period` milliseconds, unless it still owes an answer (kubelet: 5 s).
 * Where `listening$` says that its events are heard, an end of which would be noticed at once, a runtime that is well is
 * asked four times as seldom; when that changes, at once.
 *
 * ```text
 * status    --(r|)    --(r|)    --#       --(r|)
 * result    --r-------------------u---------r---      u: not ready, with the message of the error
 * ```
 *
 * Its version is asked for every minute, and after a failure: it may be another runtime by then. Emits on change only. Never errors and never completes: a runtime that is not there is a state like others.
 */
export function runtimeState(
  { version, status }: Pick<Cri, 'version' | 'status'>,
  period: number,
  listening$: Observable<boolean> = of(false),
): Observable<RuntimeState> {
  return defer(() => {
    let last = UNKNOWN_RUNTIME;
    let known: { readonly answer: VersionResponse; readonly until: number } | undefined;

    function versionNow(): Observable<VersionResponse> {
      if (known && known.until > asyncScheduler.now()) return of(known.answer);
      return version().pipe(
        tap((answer) => {
          known = { answer, until: asyncScheduler.now() + SAME_VERSION };
        }),
      );
    }

    function failed(error: unknown): Observable<RuntimeState> {
      known = undefined;
      return of({ ...last, ready: false, networkReady: false, message: messageOf(error) });
    }

    const tick$ = listening$.pipe(
      distinctUntilChanged(),
      switchMap((listening) =>
        timer(0, period).pipe(filter((index) => !listening || index % CALM === 0 || !isWell(last))),
      ),
    );

    return tick$.pipe(
      exhaustMap(() =>
        forkJoin([versionNow(), status()]).pipe(
          map(([versionAnswer, statusAnswer]) => stateOf(versionAnswer, statusAnswer)),
          catchError(failed),
        ),
      ),
      tap((state) => {
        last = state;
      }),
      distinctUntilChanged(isSame),
    );
  });
}

function stateOf({ runtimeName, runtimeVersion }: VersionResponse, { status }: StatusResponse): RuntimeState {
  const conditions = new Map((status?.conditions ?? []).map((condition) => [condition.type, condition]));
  const isTrue = (type: string): boolean => conditions.get(type)?.status === true;
  const complaints = ['RuntimeReady', 'NetworkReady']
    .filter((type) => !isTrue(type))
    .map((type) => `${type}=false: ${conditions.get(type)?.message ?? 'the runtime does not tell why'}`);
  return {
    ready: isTrue('RuntimeReady'),
    networkReady: isTrue('NetworkReady'),
    message: complaints.join('; '),
    name: runtimeName ?? '',
    version: runtimeVersion ?? '',
  };
}

function isWell({ ready, networkReady }: RuntimeState): boolean {
  return ready && networkReady;
}

function isSame(a: RuntimeState, b: RuntimeState): boolean {
  return a.ready === b.ready && a.networkReady === b.networkReady && a.message === b.message && a.version === b.version;
}
