import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';
import { emptyBook, type BookEvent, type Page } from '../../streams/book/pod-book.ts';
import { turnPage } from '../../streams/book/turn-page.ts';
import type { PodOutcome, PodWork } from '../../streams/workers/pod-work.ts';
import { decisionsOf } from '../recording/decisions.ts';
import type { Ground } from '../recording/line.ts';

export interface PlayedBook {
  /**
   * Turns a page upon an event as the recording tells it, at a time (milliseconds since 1970); `undefined` where it is
   * about something that has not been seen now.
   */
  readonly turn: (
    told: unknown,
    now: number,
  ) => { readonly decided: unknown; readonly work: readonly PodWork[] } | undefined;
  readonly nameOf: (uid: PodUid) => string | undefined;
  /** The pod that the last event was about, where it was about one. */
  readonly lastPod: () => string | undefined;
}

/** The book of an agent that is replayed; looks and works that an event tells of are known by their numbers. */
export function playedBook(
  { kept, book, backoff }: Ground,
  seen: (id: number) => ObservedPod | Snapshot | undefined,
  outcomeOf: (id: number) => PodOutcome | undefined,
): PlayedBook {
  const statuses = new Map(kept.flatMap(({ uid, status }) => (status ? [[uid, status] as const] : [])));
  const evictions = new Map(kept.flatMap(({ uid, eviction }) => (eviction ? [[uid, eviction] as const] : [])));
  let page: Page = {
    book: emptyBook({ ...book, statuses, eviction: { backoff, kept: evictions } }),
    work: [],
    notes: [],
  };
  let last: string | undefined;

  function eventOf(told: Told): BookEvent | undefined {
    if (told.id === undefined) return told as unknown as BookEvent;
    if (told.kind === 'outcome') {
      const outcome = outcomeOf(told.id);
      return outcome && { kind: 'outcome', outcome };
    }
    const what = seen(told.id);
    if (told.kind === 'snapshot') return what && 'pods' in what ? { kind: 'snapshot', snapshot: what } : undefined;
    return what && !('pods' in what) ? { kind: 'sighting', pod: what } : undefined;
  }

  function nameOf(uid: PodUid): string | undefined {
    const of = page.book.entries.get(uid)?.of;
    return of && `${of.namespace}/${of.name}`;
  }

  return {
    turn: (written, now) => {
      const told = written as Told;
      const event = eventOf(told);
      if (!event) return undefined;
      last = told.uid === undefined ? undefined : nameOf(told.uid);
      const before = page;
      page = turnPage(before, event, now);
      return { decided: decisionsOf(before.book, page), work: page.work };
    },
    nameOf,
    lastPod: () => last,
  };
}

interface Told {
  readonly kind: string;
  readonly uid?: PodUid;
  /** Of the look or the work by which it is known. */
  readonly id?: number;
}
