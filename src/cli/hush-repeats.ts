import type { LogLine, StampedLine } from './log-line.ts';

/** Milliseconds for which the same complaint is not written again (facts sheet 1.6). */
const QUIET = 60_000;
/** Different complaints that are remembered; the oldest is forgotten first. */
const MEMORY = 1_000;

interface Hushed {
  readonly writtenAt: number;
  readonly repeated: number;
}

/** What a log remembers of its errors and warnings, oldest first. */
export interface LogMemory {
  readonly hushed: ReadonlyMap<string, Hushed>;
  /** The line to write now, or `undefined` where it was written less than a minute ago. */
  readonly line: StampedLine | undefined;
}

export const EMPTY_LOG_MEMORY: LogMemory = { hushed: new Map(), line: undefined };

/**
 * Lets each error and warning through at most once a minute, counting those held back; news and details always pass.
 * `now` is in milliseconds.
 */
export function hushRepeats({ hushed }: LogMemory, line: LogLine, now: number): LogMemory {
  if (line.level === 'info' || line.level === 'debug') return { hushed, line: { ...line, at: now, repeated: 0 } };

  const text = JSON.stringify([line.level, line.message, line.fields]);
  const earlier = hushed.get(text);
  if (earlier && now - earlier.writtenAt < QUIET) {
    const counted = new Map(hushed).set(text, { ...earlier, repeated: earlier.repeated + 1 });
    return { hushed: counted, line: undefined };
  }
  const others = [...hushed].filter(([key]) => key !== text).slice(1 - MEMORY);
  return {
    hushed: new Map([...others, [text, { writtenAt: now, repeated: 0 }]]),
    line: { ...line, at: now, repeated: earlier?.repeated ?? 0 },
  };
}
