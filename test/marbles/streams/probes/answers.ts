import { defer, of } from 'rxjs';
import type { Probe, ProbeAnswer, ProbeKind, ProbePorts } from '../../../../src/streams/probes/probe.ts';

export const good: ProbeAnswer = { result: 'success', output: '' };
export const bad: ProbeAnswer = { result: 'failure', output: 'no' };

/** Long before every test, so that nothing is spread over its period. */
export const LONG_AGO = -1_000_000;

export function ports(probe: ProbePorts['probe'], more: Partial<ProbePorts> = {}): ProbePorts {
  return { probe, random: () => 0, seed: () => undefined, ...more };
}

/** A probe with a period in milliseconds, so that diagrams stay short. */
export function every(period: number, more: Probe = {}): Probe {
  return { periodSeconds: period / 1_000, ...more };
}

/** Answers at once, by kind, in order; the last answer is given again and again. */
export function answering(script: Partial<Record<ProbeKind, readonly ProbeAnswer[]>>): ProbePorts['probe'] {
  const turns = new Map<ProbeKind, number>();
  return ({ kind }) =>
    defer(() => {
      const turn = turns.get(kind) ?? 0;
      turns.set(kind, turn + 1);
      const answers = script[kind] ?? [good];
      return of(answers[Math.min(turn, answers.length - 1)] ?? good);
    });
}
