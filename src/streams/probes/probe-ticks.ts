import { asyncScheduler, defer, map, merge, timer, type Observable } from 'rxjs';
import type { Probe, ProbeKind, ProbeResult } from './probe.ts';

/**
 * `regular` ticks are those of the kubelet. An `early` one is ours: it asks a starting container as soon as it may be
 * asked, and can only help, because a failure is not counted.
 */
export type ProbeTick = 'regular' | 'early';

export interface ProbeClock {
  readonly kind: ProbeKind;
  readonly probe: Pick<Probe, 'initialDelaySeconds' | 'periodSeconds'>;
  /** Milliseconds since 1970 at which a tick of this probe falls; all others are whole periods away from it. */
  readonly phase: number;
  /** Milliseconds since 1970 at which the container started, as the runtime tells. */
  readonly startedAt: number;
  /** The result that holds when the clock starts. */
  readonly result: ProbeResult;
}

/**
 * Emits when a probe is due, for one container that runs and may be asked now. Never completes.
 *
 * ```text
 * container     s---------d-------------------      s: starts, d: initialDelaySeconds have passed
 * liveness      -----------r----r----r----r---      in step with the pod
 * startup       ----------er----r----r----r---
 * readiness     ----------r----r----r----r----      at once, unless it is ready already
 * ```
 *
 * Times are reckoned once, when it begins; from there on they are measured, so a wall clock that is set back or
 * forward neither stops a probe nor lets it run wild.
 */
export function probeTicks({ kind, probe, phase, startedAt, result }: ProbeClock): Observable<ProbeTick> {
  return defer(() => {
    const now = asyncScheduler.now();
    const period = 1_000 * (probe.periodSeconds ?? 10);
    const soonest = delayLeft(1_000 * (probe.initialDelaySeconds ?? 0), startedAt, now);
    const inStep = soonest + modulo(phase - now - soonest, period);
    const regular$ = (due: number): Observable<ProbeTick> => timer(due, period).pipe(map(() => 'regular'));

    switch (kind) {
      case 'liveness':
        return regular$(inStep);
      case 'readiness':
        return regular$(result === 'success' ? inStep : soonest);
      case 'startup':
        return inStep === soonest
          ? regular$(inStep)
          : merge(timer(soonest).pipe(map((): ProbeTick => 'early')), regular$(inStep));
    }
  });
}

/** A start that lies in the future was told by a clock that has been set back: then the whole delay is waited. */
function delayLeft(delay: number, startedAt: number, now: number): number {
  return Math.max(0, delay - Math.max(0, now - startedAt));
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
