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
  Observable,
  of,
  ReplaySubject,
  share,
  Subject,
  Subscription,
  take,
  takeUntil,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { assertNever, RuntimeError } from '../model/errors.ts';
import { isCri, type Fault, type Faults, type SimulatedCall } from './faults.ts';
import { systemError } from './system-error.ts';

/** Least and most milliseconds that a call takes, apart from what it waits for. */
export type Latency = readonly [least: number, most: number];

export interface CallsOptions {
  readonly random: () => number;
  readonly latencyOf: (name: string) => Latency;
  readonly faults: Faults;
  /** Whether calls that are over are kept. */
  readonly remembers: boolean;
  /** Whether what takes no time takes place in the very step in which it is asked for; else in a later one of that millisecond. */
  readonly inStep: boolean;
}

/** How one call takes place, when nothing goes wrong. */
type CallPlan<T> = AskedCall & (Deed<T> | { readonly effect: Effect<T> });

interface AskedCall {
  readonly name: string;
  readonly request: unknown;
  /** Milliseconds after which an answer is not waited for any more; absent where there is no end to waiting. */
  readonly deadline?: number;
}

interface Deed<T> {
  /** Called when the request has arrived; what it returns is the answer, what it throws the failure. */
  readonly act: () => T;
}

/** Subscribed when the request has arrived; its first value is the answer. */
type Effect<T> = () => Observable<T>;

export interface Calls {
  readonly log: readonly SimulatedCall[];
  /** A cold call: each subscription is logged, takes its time and meets its fault. */
  readonly call: <T>(plan: CallPlan<T>) => Observable<T>;
  /** A stream that is cut when the runtime goes down. */
  readonly stream: <T>(name: string, stream$: Observable<T>) => Observable<T>;
  readonly setFaults: (faults: Faults) => void;
  /** While it is down every call fails, and those under way are cut. */
  readonly setUp: (isUp: boolean) => void;
  /** Cuts what streams there are; calls go on. */
  readonly cutStreams: () => void;
}

/** Most of the time of a call passes before its effect. */
const BEFORE = 0.8;

/** Where a call stands in a log that is not kept. */
const NOWHERE = -1;

/** Milliseconds until a call learns that nobody listens on the socket. */
const REFUSAL = 1;

export function calls({ random, latencyOf, faults: firstFaults, remembers, inStep }: CallsOptions): Calls {
  const log: SimulatedCall[] = [];
  const counts = new Map<string, number>();
  const cuts = new Subject<undefined>();
  const streamCuts = new Subject<undefined>();
  /** How the plain calls to the runtime are cut that are under way. */
  const underWay = new Set<() => void>();
  let faults = firstFaults;
  let isUp = true;

  function enter(name: string, request: unknown): { readonly entry: SimulatedCall; readonly index: number } {
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    const entry = { name, request, nth, at: asyncScheduler.now() };
    return { entry, index: remembers ? log.push(entry) - 1 : NOWHERE };
  }

  function leave(index: number, outcome: 'ok' | 'failed' | 'cancelled'): void {
    if (index === NOWHERE) return;
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

  function untilCut<T>(name: string, stream$: Observable<T>, cut$: Observable<undefined> = cuts): Observable<T> {
    const gone$: Observable<unknown> = isUp ? cut$ : timer(REFUSAL);
    const failure$ = gone$.pipe(mergeMap(() => throwError(() => unavailable(name))));
    return isUp ? merge(failure$, stream$) : failure$;
  }

  /** Most calls are of this kind: one that takes its time and does its deed. It costs two timers and no stream but its own. */
  function plain<T>(name: string, act: () => T, latency: number, index: number): Observable<T> {
    return new Observable<T>((subscriber) => {
      const [before, after] = waysOf(latency);

      function end(told: Answer<T>): void {
        underWay.delete(cut);
        leave(index, told.ok ? 'ok' : 'failed');
        if (told.ok) {
          subscriber.next(told.value);
          subscriber.complete();
        } else subscriber.error(told.error);
      }

      function cut(): void {
        end({ ok: false, error: unavailable(name) });
      }

      if (isCri(name)) underWay.add(cut);
      let action = new Subscription();
      function arrive(): void {
        const answer = answerOf(act);
        if (inStep && after === 0) {
          end(answer);
          return;
        }
        // The news of what was done is always there before the answer, were it in the same millisecond.
        action = asyncScheduler.schedule(() => {
          end(answer);
        }, after);
      }
      if (inStep && before === 0) arrive();
      else action = asyncScheduler.schedule(arrive, before);
      return () => {
        action.unsubscribe();
        underWay.delete(cut);
        leave(index, 'cancelled');
      };
    });
  }

  return {
    log,
    call: <T>(plan: CallPlan<T>) =>
      defer(() => {
        const { entry, index } = enter(plan.name, plan.request);
        const fault = faults(entry, random);
        const [least, most] = latencyOf(plan.name);
        const latency = least + random() * (most - least);
        if ('act' in plan && !fault && (isUp || !isCri(plan.name))) return plain(plan.name, plan.act, latency, index);
        const answer$ = takePlace(plan, latency, fault, cuts).pipe(
          tap(() => {
            leave(index, 'ok');
          }),
          take(1),
        );
        return logged(index, isCri(plan.name) ? untilCut(plan.name, answer$).pipe(take(1)) : answer$);
      }),
    stream: (name, stream$) =>
      defer(() => logged(enter(name, {}).index, untilCut(name, stream$, merge(cuts, streamCuts)))),
    setFaults: (next) => {
      faults = next;
    },
    setUp: (next) => {
      isUp = next;
      if (isUp) return;
      cuts.next(undefined);
      for (const cut of [...underWay]) cut();
    },
    cutStreams: () => {
      streamCuts.next(undefined);
    },
  };
}

type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

function answerOf<T>(act: () => T): Answer<T> {
  try {
    return { ok: true, value: act() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** Whole milliseconds until a request has arrived, and then until its answer is back. */
function waysOf(latency: number): readonly [before: number, after: number] {
  const before = Math.round(latency * BEFORE);
  return [before, Math.round(latency) - before];
}

function effectOf<T>(plan: CallPlan<T>): Effect<T> {
  return 'effect' in plan ? plan.effect : () => defer(() => of(plan.act()));
}

/** `cut$` emits when the runtime goes down, and takes along what nobody waits for. */
function takePlace<T>(
  plan: CallPlan<T>,
  ordinary: number,
  fault: Fault | undefined,
  cut$: Observable<unknown>,
): Observable<T> {
  const { name, deadline } = plan;
  const [before, after] = waysOf(ordinary + (fault?.kind === 'slow' ? fault.by : 0));
  const effect$ = timer(before).pipe(concatMap(effectOf(plan)));

  switch (fault?.kind) {
    case undefined:
    case 'slow':
      return answered(effect$, after);
    case 'late':
      return answered(effect$, after + fault.by);
    case 'linger':
      return answered(
        goingOn(
          timer(fault.by).pipe(
            concatMap(() => effect$),
            takeUntil(cut$),
          ),
        ),
        after,
      );
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

/** Failures take their way back too. */
function answered<T>(effect$: Observable<T>, after: number): Observable<T> {
  return effect$.pipe(materialize(), delay(after), dematerialize());
}

/** Runs to its end though nobody listens any more. */
function goingOn<T>(effect$: Observable<T>): Observable<T> {
  return effect$.pipe(share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: false }));
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
