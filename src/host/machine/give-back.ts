import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { debounceTime, defer, filter, ignoreElements, map, tap, type Observable } from 'rxjs';

/**
 * Milliseconds without activity after which what it left behind is collected: V8 makes its young generation small again
 * only when little was allocated in the last five seconds.
 */
const CALM = 6_000;
/** Bytes held beyond what the last collection left that make one worth its while: it takes a tenth of a second of a processor. */
const WORTH = 12 * 1024 * 1024;

export interface Heap {
  /** Bytes taken from the system: what is in use, garbage, and room for more. */
  readonly held: () => number;
  readonly collect: () => void;
}

/**
 * Gives memory back after a burst of activity: V8 makes room for the garbage of sixty pods that start, and would keep
 * 30 MiB of it for good on a node that is idle from then on. Emits nothing, completes and errors with the source.
 *
 * ```text
 * activity  -aaa-a-----------a----
 * collect   ----------c-----------      calm, and worth it
 * ```
 */
export function giveBack(activity$: Observable<unknown>, { held, collect }: Heap = nodeHeap()): Observable<never> {
  return defer(() => {
    let left = 0; // a start, too, leaves much behind
    return activity$.pipe(
      debounceTime(CALM),
      map(held),
      filter((bytes) => bytes - left > WORTH),
      tap(() => {
        collect();
        left = held();
      }),
      ignoreElements(),
    );
  });
}

/** V8 collects on request where a flag allows that, and the function for it is there in contexts that are made after. */
function nodeHeap(): Heap {
  return {
    held: () => process.memoryUsage().heapTotal,
    collect: () => {
      setFlagsFromString('--expose-gc');
      (runInNewContext('gc') as () => void)();
    },
  };
}
