import type { PodOutcome } from './outcome.ts';
import { STATES, type PodState } from './pod-state.ts';

/** What happens to containers, as it stands in a row; what comes first hides what comes after it. */
export const MARKS = { x: 'a container failed', o: 'one ended well', s: 'one started' } as const;

/**
 * The row of a pod: its state in each column, and what happened to its containers there.
 *
 * ```text
 * .s==x~~~~s-========/
 * ```
 *
 * A column shows the state that held longest in it. `seconds` is the time from edge to edge.
 */
export function stateTrack(
  pod: Pick<PodOutcome, 'states' | 'starts' | 'ends'>,
  seconds: number,
  width: number,
): string {
  const column = (at: number): number => Math.max(0, Math.min(width - 1, Math.floor((at / seconds) * width)));
  const held = Array.from({ length: width }, () => new Map<PodState, number>());
  let before: { readonly at: number; readonly state: PodState } = { at: 0, state: 'absent' };
  for (const next of [...pod.states, { at: seconds, state: 'absent' as const }]) {
    for (let index = column(before.at); index <= column(next.at); index += 1) {
      const begin = (index * seconds) / width;
      const overlap = Math.min(next.at, begin + seconds / width) - Math.max(before.at, begin);
      const times = held[index];
      if (overlap > 0) times?.set(before.state, (times.get(before.state) ?? 0) + overlap);
    }
    before = next;
  }
  const cells: string[] = held.map((times) => STATES[longest(times)].symbol);
  for (const { at } of pod.starts) cells[column(at)] = 's';
  for (const { at, exitCode } of pod.ends) if (exitCode === 0) cells[column(at)] = 'o';
  for (const { at, exitCode } of pod.ends) if (exitCode !== 0) cells[column(at)] = 'x';
  return cells.join('');
}

function longest(times: ReadonlyMap<PodState, number>): PodState {
  let found: PodState = 'absent';
  for (const [state, time] of times) if (time > (times.get(found) ?? 0)) found = state;
  return found;
}
