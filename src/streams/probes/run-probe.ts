import { defer, EMPTY, takeWhile, type Observable } from 'rxjs';
import { assertNever, messageOf } from '../../model/errors.ts';
import { askEach } from '../../operators/ask-each.ts';
import { emitAll } from '../../operators/emit-all.ts';
import type { PodNote } from '../workers/pod-work.ts';
import { probeTicks, type ProbeClock, type ProbeTick } from './probe-ticks.ts';
import type { Probe, ProbeAnswer, ProbeKind, ProbePorts, ProbeResult, ProbeTarget } from './probe.ts';
import { count, isOnHold, newTally } from './tally.ts';

/** What came of one question. */
export interface ProbeOutcome {
  readonly result: ProbeResult;
  readonly note?: PodNote;
}

export interface ProbeRun extends ProbeClock {
  readonly probe: Probe;
  /** Told anew for each question: the address of a pod may become known later. */
  readonly target: () => ProbeTarget;
}

/**
 * Asks one container again and again, and counts.
 *
 * ```text
 * tick       0---1---2---3---4---5---
 * answer     f   -------f    f            f: failure; the second one takes long, tick 2 is skipped
 * outcome    f----------f----F|           F: the third in a row, so liveness fails and is on hold
 * ```
 *
 * Emits what is worth telling: every change of the result, every failure, warning and error. Completes when the probe
 * is on hold; never errors. Unsubscribing cancels the question in flight.
 */
export function runProbe(run: ProbeRun, probe: ProbePorts['probe']): Observable<ProbeOutcome> {
  return defer(() => {
    const { kind } = run;
    let tally = newTally(run.result);
    if (isOnHold(kind, tally.result)) return EMPTY;

    let tick: ProbeTick = 'regular';

    function counted(answer: ProbeAnswer | Unasked): readonly ProbeOutcome[] {
      // What could not be asked says nothing about the container: the result stays.
      if (answer.result === 'unasked') return [{ result: tally.result, note: errorNote(run, answer.error) }];
      if (tick === 'early' && answer.result === 'failure') return NOTHING;
      const former = tally.result;
      tally = count(tally, answer.result === 'failure' ? 'failure' : 'success', run.probe);
      const note = noteOf(run, answer);
      if (note === undefined && tally.result === former) return NOTHING;
      return [{ result: tally.result, ...(note && { note }) }];
    }

    return probeTicks(run).pipe(
      askEach<ProbeTick, ProbeAnswer | Unasked>({
        ask: (now) => {
          tick = now;
          return probe(run.target(), run.probe);
        },
        tries: TRIES,
        failed: (error) => ({ result: 'unasked', error }),
      }),
      emitAll(counted),
      takeWhile(({ result }) => !isOnHold(kind, result), true),
    );
  });
}

interface Unasked {
  readonly result: 'unasked';
  readonly error: unknown;
}

/** What most answers are worth. */
const NOTHING: readonly ProbeOutcome[] = [];

/** The kubelet's: how often a question is put that could not be put. */
const TRIES = 3;

function noteOf({ kind, target }: ProbeRun, { result, output }: ProbeAnswer): PodNote | undefined {
  switch (result) {
    case 'success':
      return undefined;
    case 'warning':
      return warning('ProbeWarning', `${TITLES[kind]} probe warning: ${output}`, target());
    case 'failure':
      return warning('Unhealthy', `${TITLES[kind]} probe failed: ${output}`, target());
    default:
      return assertNever(result);
  }
}

function errorNote({ kind, target }: ProbeRun, error: unknown): PodNote {
  const message = `${TITLES[kind]} probe errored and resulted in unknown state: ${messageOf(error)}`;
  return warning('Unhealthy', message, target());
}

function warning(reason: string, message: string, { container }: ProbeTarget): PodNote {
  return { level: 'Warning', reason, message, container: container.name };
}

const TITLES: Readonly<Record<ProbeKind, string>> = {
  startup: 'Startup',
  liveness: 'Liveness',
  readiness: 'Readiness',
};
