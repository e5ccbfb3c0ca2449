import { randomBytes, randomInt } from 'node:crypto';
import { asyncScheduler, Observable } from 'rxjs';
import { rxletVersion } from '../version.ts';
import { recorder } from './recorder.ts';
import { recordingFile } from './recording-file.ts';
import type { Tape } from './tape.ts';

/**
 * Begins a recording: emits where the agent is to pass through, once, and ends the recording when it is unsubscribed.
 * Never errors: what goes wrong with the file ends the recording, is told to `onProblem`, and touches nothing else.
 */
export function recordTo(path: string, onProblem: (message: string) => void): Observable<Tape> {
  return new Observable<Tape>((subscriber) => {
    const clock = standingClock();
    const { now } = asyncScheduler;
    asyncScheduler.now = clock.now;
    const file = recordingFile(path, onProblem);
    subscriber.next(
      recorder({
        write: file.write,
        now: clock.turn,
        monotonic: clock.monotonic,
        version: rxletVersion(),
        seed: randomInt(2 ** 31),
        key: randomBytes(32),
      }),
    );
    return () => {
      asyncScheduler.now = now;
      file.close();
    };
  });
}

/** Milliseconds. */
interface StandingClock {
  /** Since 1970. */
  readonly now: () => number;
  /** Since some moment, without jumps. */
  readonly monotonic: () => number;
  /** As `now`, and from now on both stand still until what was heard has been acted upon. */
  readonly turn: () => number;
}

/** What is decided upon one thing that was heard is decided at one time, so that it can be decided again. */
function standingClock(): StandingClock {
  let stands: { readonly now: number; readonly monotonic: number } | undefined;
  return {
    now: () => stands?.now ?? Date.now(),
    monotonic: () => stands?.monotonic ?? performance.now(),
    turn: () => {
      if (!stands) {
        stands = { now: Date.now(), monotonic: performance.now() };
        queueMicrotask(() => {
          stands = undefined;
        });
      }
      return stands.now;
    },
  };
}
