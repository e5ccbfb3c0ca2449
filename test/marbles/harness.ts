import { TestScheduler, type RunHelpers } from 'rxjs/testing';
import { expect } from 'vitest';

/** Runs a test in virtual time: one frame is one millisecond. */
export function marbles(test: (helpers: RunHelpers) => void): () => void {
  return () => {
    new TestScheduler((actual, expected) => {
      expect(actual).toEqual(expected);
    }).run(test);
  };
}
