import {
  catchError,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  exhaustMap,
  filter,
  ignoreElements,
  interval,
  map,
  merge,
  of,
  throttleTime,
  withLatestFrom,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { isSystemdListening, notifySystemd, type Environment } from './notify.ts';
import { watchdogPeriod } from './watchdog-period.ts';

export interface SystemdConfig {
  readonly env: Environment;
  readonly pid: number;
  /** Whether the agent is alive: while it is not, the watchdog is left without its sign. Emits the state at once. */
  readonly healthy$: Observable<boolean>;
  /** One line on how things stand, for `systemctl status`. */
  readonly status$: Observable<string>;
}

/** Milliseconds between two status lines at least. */
const STATUS_PAUSE = 5_000;

/**
 * Tells systemd that we are ready, then that we live, and how things stand. Emits a sentence for the log for every
 * message that did not get through. Completes at once where systemd does not listen, else never. Errors only at
 * subscription, where the unit's watchdog allows less time than any agent can promise.
 */
export function systemd({ env, pid, healthy$, status$ }: SystemdConfig): Observable<string> {
  return defer(() => {
    if (!isSystemdListening(env)) return EMPTY;
    const period = watchdogPeriod(env, pid);
    const alive$ =
      period === undefined
        ? EMPTY
        : interval(period).pipe(
            withLatestFrom(healthy$),
            filter(([, healthy]) => healthy),
            exhaustMap(() => tell(env, 'WATCHDOG=1')),
          );
    const told$ = status$.pipe(
      distinctUntilChanged(),
      throttleTime(STATUS_PAUSE, undefined, { leading: true, trailing: true }),
      concatMap((status) => tell(env, `STATUS=${status}`)),
    );
    return concat(tell(env, 'READY=1'), merge(alive$, told$));
  });
}

/** Tells systemd that we are about to end. Completes when it knows, and never errors: an end cannot fail. */
export function systemdStopping(env: Environment): Observable<never> {
  return tell(env, 'STOPPING=1').pipe(ignoreElements());
}

function tell(env: Environment, variable: string): Observable<string> {
  return notifySystemd(env, [variable]).pipe(
    catchError((error: unknown) => of(messageOf(error))),
    map((failure) => `${failure} (while sending ${variable})`),
  );
}
