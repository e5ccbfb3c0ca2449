import {
  asyncScheduler,
  concatMap,
  defer,
  delay,
  dematerialize,
  finalize,
  ignoreElements,
  materialize,
  merge,
  mergeMap,
  NEVER,
  Subject,
  take,
  tap,
  throwError,
  timer,
  type Observable,
} from 'rxjs';
import { assertNever, RuntimeError, type RuntimeErrorKind } from '../model/errors.ts';
import { systemError } from './system-error.ts';

/** One call that the agent made; `endedAt` and `outcome` are absent while it is under way. */
export interface SimulatedCall {
  /** As `RunPodSandbox` or `files.writeFile`. */
  readonly name: string;
  readonly request: unknown;
  /** How many calls of this name came before it. */
  readonly nth: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly endedAt?: number;
  readonly outcome?: 'ok' | 'failed' | 'cancelled';
}

/** What goes wrong with a call. */
export type Fault =
  /** It fails, and nothing has happened: with a kind of error of the runtime, or for the disk a code, as `ENOSPC`. */
  | { readonly kind: 'fail'; readonly error?: RuntimeErrorKind; readonly code?: string; readonly message?: string }
  /** It takes so many milliseconds longer, most of them before its effect. */
  | { readonly kind: 'slow'; readonly by: number }
  /** It is never answered, and nothing happens; it fails at its deadline. */
  | { readonly kind: 'hang' }
  /** It takes effect, but its answer is lost: at once, or (`deadline`) only at its deadline. */
  | { readonly kind: 'loseAnswer'; readonly error?: 'unavailable' | 'deadline' };

/** Which calls go wrong, and how; `random` gives numbers in [0, 1) from the seed of the node. */
export type Faults = (call: SimulatedCall, random: () => number) => Fault | undefined;

/** Least and most milliseconds that a call takes, apart from what it waits for. */
export type Latency = readonly [least: number, most: number];

export interface CallsOptions {
  readonly random: () => number;
  readonly latencyOf: (name: string) => Latency;
  readonly faults: Faults;
}

/** How one call takes place, when nothing goes wrong. */
interface CallPlan<T> {
  readonly name: string;
  readonly request: unknown;
  /** Milliseconds after which an answer is not waited for any more; absent where there is no end to waiting. */
  readonly deadline?: number;
  /** Subscribed when the request has arrived; its first value is the answer. */
  readonly effect: () => Observable<T>;
}

export interface Calls {
  readonly log: readonly SimulatedCall[];
  /** A cold call: each subscription is logged, takes its time and meets its fault. */
  readonly call: <T>(plan: CallPlan<T>) => Observable<T>;
  /** A stream that is cut when the runtime goes down. */
  readonly stream: <T>(name: string, stream$: Observable<T>) => Observable<T>;
  readonly setFaults: (faults: Faults) => void;
  /** While it is down every call fails, and those under way are cut. */
  readonly setUp: (isUp: boolean) => void;
}

/** Most of the time of a call passes before its effect. */
const BEFORE = 0.8;

/** Milliseconds until a call learns that nobody listens on the socket. */
const REFUSAL = 1;

export function calls({ random, latencyOf, faults: firstFaults }: CallsOptions): Calls {
  const log: SimulatedCall[] = [];
  const counts = new Map<string, number>();
  const cuts = new Subject<undefined>();
  let faults = firstFaults;
  let isUp = true;

  function enter(name: string, request: unknown): number {
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    return log.push({ name, request, nth, at: asyncScheduler.now() }) - 1;
  }

  function leave(index: number, outcome: 'ok' | 'failed' | 'cancelled'): void {
    const entry = log[index];
    if (entry && !entry.outcome) log[index] = { ...entry, endedAt: asyncScheduler.now(), outcome };
  }

  function logged<T>(index: number, call$: Observable<T>): Observable<T> {
    return call$.pipe(
      tap({
        error: () => {
          leave(index, 'failed');
        },
      }),
      finalize(() => {
        leave(index, 'cancelled');
      }),
    );
  }

  function untilCut<T>(name: string, stream$: Observable<T>): Observable<T> {
    const gone$: Observable<unknown> = isUp ? cuts : timer(REFUSAL);
    const failure$ = gone$.pipe(mergeMap(() => throwError(() => unavailable(name))));
    return isUp ? merge(failure$, stream$) : failure$;
  }

  return {
    log,
    call: <T>(plan: CallPlan<T>) =>
      defer(() => {
        const index = enter(plan.name, plan.request);
        const entry = log[index];
        const fault = entry && faults(entry, random);
        const [least, most] = latencyOf(plan.name);
        const latency = least + random() * (most - least) + (fault?.kind === 'slow' ? fault.by : 0);
        const answer$ = takePlace(plan, latency, fault).pipe(
          tap(() => {
            leave(index, 'ok');
          }),
          take(1),
        );
        return logged(index, isCri(plan.name) ? untilCut(plan.name, answer$).pipe(take(1)) : answer$);
      }),
    stream: (name, stream$) => defer(() => logged(enter(name, {}), untilCut(name, stream$))),
    setFaults: (next) => {
      faults = next;
    },
    setUp: (next) => {
      isUp = next;
      if (!isUp) cuts.next(undefined);
    },
  };
}

/** Files are there even when the runtime is not. */
function isCri(name: string): boolean {
  return !name.startsWith('files.');
}

function takePlace<T>({ name, deadline, effect }: CallPlan<T>, latency: number, fault?: Fault): Observable<T> {
  const before = Math.round(latency * BEFORE);
  const after = Math.round(latency) - before;
  const effect$ = timer(before).pipe(concatMap(effect));

  switch (fault?.kind) {
    case undefined:
    case 'slow':
      // Failures take their way back too.
      return effect$.pipe(materialize(), delay(after), dematerialize());
    case 'fail':
      return timer(before + after).pipe(mergeMap(() => throwError(() => failure(name, fault))));
    case 'hang':
      return lateAfter(name, deadline);
    case 'loseAnswer':
      return fault.error === 'deadline'
        ? merge(effect$.pipe(ignoreElements()), lateAfter(name, deadline))
        : effect$.pipe(
            delay(after),
            mergeMap(() => throwError(() => unavailable(name))),
          );
    default:
      return assertNever(fault);
  }
}

function failure(name: string, { error = 'refused', code = 'EIO', message }: Extract<Fault, { kind: 'fail' }>): Error {
  const text = message ?? `${name} was made to fail`;
  return isCri(name) ? new RuntimeError(error, name, text) : systemError(code, text, name);
}

function lateAfter(name: string, deadline: number | undefined): Observable<never> {
  if (deadline === undefined) return NEVER;
  return timer(deadline).pipe(
    mergeMap(() => throwError(() => new RuntimeError('deadline', name, `no answer within ${deadline / 1_000} s`))),
  );
}

function unavailable(name: string): RuntimeError {
  return new RuntimeError('unavailable', name, 'the runtime is gone');
}
