import type { Revision } from '../../model/observed.ts';

/** The counter that orders observations; `next` draws, `current` only looks. One per agent. */
export interface Revisions {
  readonly next: () => Revision;
  readonly current: () => Revision;
}

export function revisions(): Revisions {
  let drawn = 0;
  return { next: () => ++drawn, current: () => drawn };
}
