import { takeTurns } from '../../operators/take-turns.ts';
import type { Cri } from '../../streams/ports/cri.ts';

/**
 * Milliseconds for which a call counts among those that keep the runtime busy: one that takes longer waits itself, for
 * a network or a disk, and holds up nobody.
 */
const BUSY = 5_000;

/**
 * The same runtime, of which at most `places` calls that start something are under way at once; the others wait here.
 *
 * A runtime that starts sixty pods at once takes longer for all of them than one that starts a few at a time, and shows
 * the first one only at the end. What belongs to a pod that has its sandbox goes first, so that pods are finished in the
 * order in which they were begun. Calls that end something never wait.
 */
export function startInTurns<Calls extends Cri>(cri: Calls, places: number): Calls {
  const starts = { inTurn: takeTurns(places, { atMost: BUSY }) };
  return {
    ...cri,
    runPodSandbox: (request) => starts.inTurn(cri.runPodSandbox(request)),
    createContainer: (request) => starts.inTurn(cri.createContainer(request), 'first'),
    startContainer: (request) => starts.inTurn(cri.startContainer(request), 'first'),
  };
}
