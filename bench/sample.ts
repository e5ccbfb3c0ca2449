/** What the bench can do, one after the other. */
export const PARTS = ['story', 'start', 'idle', 'load'] as const;
export type Part = (typeof PARTS)[number];

/** The bare calls to the runtime, beside the agents. */
export const FLOOR = 'floor';

/** What one repetition of one part has given; units are those of the measure (bench/measures.ts). */
export interface Sample {
  readonly part: Part;
  /** An agent's name, or {@link FLOOR}. */
  readonly agent: string;
  /** How many pods it was about. */
  readonly pods: number;
  readonly values: Readonly<Record<string, number>>;
  /** Why there are no (more) values. */
  readonly error?: string;
}

/** All of one runtime. */
export interface RuntimeResult {
  /** As it was asked for: 1.6 or 2. */
  readonly runtime: string;
  /** As it tells itself. */
  readonly version: string;
  readonly samples: readonly Sample[];
}
