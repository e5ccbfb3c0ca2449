import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { defer, ignoreElements, map, switchMap, take, takeWhile, tap, timer, type Observable } from 'rxjs';

/** Milliseconds without activity after which what it left behind is collected. */
const CALM = 5_000;
/** Milliseconds from one collection to the next, when it stays calm. */
const AGAIN = 2_000;
/**
 * Collections after one burst, at most. V8 makes its young generation small again only in a collection before which
 * little was allocated since the one before, so it may be the second that gives memory back.
 */
const MOST = 3;
/** Bytes held beyond what is in use that make a collection worth its while: it takes a twentieth of a second of a processor. */
const WORTH = 16 * 1024 * 1024;

export interface Heap {
  /** Bytes taken from the system: what is in use, garbage, and room for more. */
  readonly held: () => number;
  /** Bytes of these that hold something, be it garbage. */
  readonly used: () => number;
  readonly collect: () => void;
}

/**
 * Gives memory back after a burst of activity: V8 makes room for the garbage of sixty pods that start, and would keep
 * 40 MiB of it for good on a node that is idle from then on. Emits nothing, completes and errors with the source.
 *
 * ```text
 * activity  -aaa-a-----------a----
 * collect   ----------c-c---------      calm, and worth it; the second time because the first one gave little back
 * ```
 */
export function giveBack(
  activity$: Observable<unknown>,
  { held, used, collect }: Heap = nodeHeap(),
): Observable<never> {
  return defer(() => {
    let live = 0; // a start, too, leaves much behind
    return activity$.pipe(
      switchMap(() =>
        timer(CALM, AGAIN).pipe(
          take(MOST),
          map(() => held() - live),
          takeWhile((bytes) => bytes > WORTH),
          tap(() => {
            collect();
            live = used();
          }),
        ),
      ),
      ignoreElements(),
    );
  });
}

/** V8 collects on request where a flag allows that, and the function for it is there in contexts that are made after. */
function nodeHeap(): Heap {
  return {
    held: () => process.memoryUsage().heapTotal,
    used: () => process.memoryUsage().heapUsed,
    collect: () => {
      setFlagsFromString('--expose-gc');
      (runInNewContext('gc') as () => void)();
    },
  };
}
