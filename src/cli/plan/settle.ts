import type { PodChange } from '../../model/desired.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { PodUid } from '../../model/pod.ts';
import type { BookEvent, Page, PodBook } from '../../streams/book/pod-book.ts';
import { turnPage } from '../../streams/book/turn-page.ts';
import type { PodOutcome, PodWork } from '../../streams/workers/pod-work.ts';

/**
 * Turns the pages of the book after a change in a world where all work succeeds at once, until there is no more to do.
 * `ended` are the pods that were ended on the way, and why.
 */
export function settle(
  book: PodBook,
  changes: readonly PodChange[],
  now: number,
): { readonly book: PodBook; readonly ended: ReadonlyMap<PodUid, string> } {
  const ended = new Map<PodUid, string>();
  let page: Page = { book, work: [], notes: [] };
  // What is under way already is finished first: it may be in the way of what comes.
  const under = [...book.entries.keys()].map((uid): BookEvent => ({ kind: 'wake', uid }));
  const events: BookEvent[] = [...under, { kind: 'changes', changes }];
  for (let event = events.shift(); event; event = events.shift()) {
    page = turnPage(page, event, now);
    for (const work of page.work) {
      if (work.kind === 'terminate' && !ended.has(work.uid)) ended.set(work.uid, work.why);
      if (work.kind !== 'sync') events.push({ kind: 'outcome', outcome: outcomeOf(work) });
    }
  }
  return { book: page.book, ended };
}

function outcomeOf(work: Exclude<PodWork, { kind: 'sync' }>): PodOutcome {
  const { uid } = work;
  switch (work.kind) {
    case 'prepare':
      return { kind: 'prepared', uid, work };
    case 'terminate':
      return { kind: 'ended', uid, work, observed: nothingOf(work.of) };
    case 'cleanUp':
      return { kind: 'cleanedUp', uid, work };
  }
}

function nothingOf({ uid, name, namespace }: { uid: PodUid; name: string; namespace: string }): ObservedPod {
  return { uid, name, namespace, revision: 0, sandboxes: [], containers: [] };
}
