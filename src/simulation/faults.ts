import type { RuntimeErrorKind } from '../model/errors.ts';

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
  /** Its answer is of its ordinary time, but comes so many milliseconds later: those to later calls overtake it. */
  | { readonly kind: 'late'; readonly by: number }
  /** It takes so many milliseconds longer before its effect, and has it even when nobody waits for it any more. */
  | { readonly kind: 'linger'; readonly by: number }
  /** It is never answered, and nothing happens; it fails at its deadline. */
  | { readonly kind: 'hang' }
  /** It takes effect, but its answer is lost: at once, or (`deadline`) only at its deadline. */
  | { readonly kind: 'loseAnswer'; readonly error?: 'unavailable' | 'deadline' };

/** Which calls go wrong, and how; `random` gives numbers in [0, 1) from the seed of the node. */
export type Faults = (call: SimulatedCall, random: () => number) => Fault | undefined;

/** Files are there even when the runtime is not. */
export function isCri(name: string): boolean {
  return !name.includes('.');
}

/** Probability that a call meets a fault of each kind; 0 unless told. Together at most 1. */
export type FaultRates = Readonly<Partial<Record<Fault['kind'], number>>>;

/** Faults by dice: each call meets them at these rates, by the seed of the node. */
export function faultDice(rates: FaultRates): Faults {
  return ({ name }, random) => {
    let left = random();
    const kind = FAULT_KINDS.find((one) => (left -= rates[one] ?? 0) < 0);
    if (kind === undefined) return undefined;
    // A disk answers or does not: there is no deadline after which one stops to wait for it.
    return FAULT_OF[isCri(name) ? kind : DISK_KIND[kind]](random);
  };
}

/** Milliseconds; the longest that is not yet a hanging call. */
const LONGEST = 20_000;

const FAULT_OF: Readonly<Record<Fault['kind'], (random: () => number) => Fault>> = {
  fail: (random) => ({ kind: 'fail', error: random() < 0.5 ? 'refused' : 'unavailable' }),
  slow: (random) => ({ kind: 'slow', by: time(random) }),
  late: (random) => ({ kind: 'late', by: time(random) }),
  linger: (random) => ({ kind: 'linger', by: time(random) }),
  hang: () => ({ kind: 'hang' }),
  loseAnswer: (random) => ({ kind: 'loseAnswer', error: random() < 0.5 ? 'unavailable' : 'deadline' }),
};

const DISK_KIND: Readonly<Record<Fault['kind'], 'fail' | 'slow' | 'late'>> = {
  fail: 'fail',
  slow: 'slow',
  late: 'late',
  linger: 'slow',
  hang: 'slow',
  loseAnswer: 'fail',
};

/** Mostly short, at times long: few races are of seconds. */
function time(random: () => number): number {
  return Math.round(random() ** 4 * LONGEST);
}

export const FAULT_KINDS: readonly Fault['kind'][] = Object.keys(FAULT_OF) as Fault['kind'][];
