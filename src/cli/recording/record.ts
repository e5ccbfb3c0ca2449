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
    const clock = standingClock(() => Date.now());
    const { now } = asyncScheduler;
    asyncScheduler.now = clock.now;
    const file = recordingFile(path, onProblem);
    subscriber.next(
      recorder({
        write: file.write,
        now: clock.turn,
        monotonic: () => performance.now(),
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

interface StandingClock {
  readonly now: () => number;
  /** The same, and from now on it stands still until what was heard has been acted upon. */
  readonly turn: () => number;
}

/** What is decided upon one thing that was heard is decided at one time, so that it can be decided again. */
function standingClock(real: () => number): StandingClock {
  let stands: number | undefined;
  return {
    now: () => stands ?? real(),
    turn: () => {
      if (stands === undefined) {
        stands = real();
        queueMicrotask(() => {
          stands = undefined;
        });
      }
      return stands;
    },
  };
}
