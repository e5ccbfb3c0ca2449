import { randomBytes, randomInt } from 'node:crypto';
import { asyncScheduler, Observable } from 'rxjs';
import { rxletVersion } from '../version.ts';
import { recorder } from './recorder.ts';
import { recordingFile } from './recording-file.ts';
import { standingClock } from './standing-clock.ts';
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
        now: clock.now,
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
