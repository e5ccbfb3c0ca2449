import type { Difference } from './differences.ts';

/** Where what is decided now is not what was decided then. */
export interface Parting {
  /** The pod that it is about, as `namespace/name`; absent: none alone. */
  readonly pod?: string;
  /** A sentence each. */
  readonly then: string;
  readonly now: string;
  readonly differences: readonly Difference[];
}

export function parting(
  pod: string | undefined,
  then: string,
  now: string,
  differences: readonly Difference[] = [],
): Parting {
  return { ...(pod !== undefined && { pod }), then, now, differences };
}

/** What a report says (`decisionIn`), in a sentence. */
export function summaryOf(decision: unknown): string {
  const { note, starting, outcome } = decision as {
    readonly note?: { readonly reason: string; readonly message: string };
    readonly starting?: string;
    readonly outcome?: { readonly kind: string; readonly next?: number; readonly error?: string };
  };
  if (note) return `it told ${note.reason}: ${note.message}`;
  if (starting !== undefined) return `it starts ${starting}`;
  const { kind = '', next, error } = outcome ?? {};
  const why = error === undefined ? '' : `: ${error}`;
  return `the outcome is ${kind}${why}${next === undefined ? '' : `, next turn in ${seconds(next)} s`}`;
}

function seconds(milliseconds: number): string {
  return String(Math.round(milliseconds) / 1_000);
}
