import { assertNever } from '../../model/errors.ts';
import { changedKeys } from '../../model/layered-map.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { PodIdentity } from '../../model/paths.ts';
import type { Pod, PodUid } from '../../model/pod.ts';
import type { BookEvent, Entry, Page, PodBook } from '../book/pod-book.ts';
import { UNWATCHED, type Tracer } from '../ports/tracer.ts';
import type { PodWork } from '../workers/pod-work.ts';

/** Tells what the book heard, and what it decided: every pod that is in another phase now, then the work. */
export function tracePage(before: PodBook, event: BookEvent, { book, work }: Page, trace: Tracer): void {
  if (trace === UNWATCHED) return;
  traceEvent(event, book, trace);
  for (const uid of changedKeys(before.entries, book.entries)) {
    const [former, entry] = [before.entries.get(uid), book.entries.get(uid)];
    if (former?.phase === entry?.phase) continue;
    if (entry)
      trace({ kind: 'phase', pod: entry.of, from: former?.phase ?? 'new', to: entry.phase, ...because(entry) });
    else if (former) trace({ kind: 'phase', pod: former.of, from: former.phase, to: 'gone' });
  }
  for (const one of work) {
    trace({ kind: 'work', pod: identityIn(one), work: one.kind, ...('why' in one ? said(one.why) : {}) });
  }
}

/** Of whom a work is. */
export function identityIn(work: PodWork): PodIdentity {
  return 'of' in work ? work.of : identityOf(work.pod);
}

/** Whose a UID is, as far as the book knows; without a name where it does not. */
export function whoseIs({ entries }: PodBook, uid: PodUid): PodIdentity {
  return entries.get(uid)?.of ?? { uid, name: '', namespace: '' };
}

function traceEvent(event: BookEvent, book: PodBook, trace: Tracer): void {
  switch (event.kind) {
    case 'changes':
      for (const { op, source, pod, why } of event.changes)
        trace({ kind: 'change', pod: identityOf(pod), op, source, ...said(why) });
      return;
    case 'objects':
      for (const object of event.keys) trace({ kind: 'object', object });
      return;
    case 'snapshot':
      trace({ kind: 'snapshot', pods: event.snapshot.pods.size });
      return;
    case 'sighting': {
      const { uid } = event.pod;
      trace({ kind: 'sighting', pod: whoseIs(book, uid), containers: newestOf(event.pod) });
      return;
    }
    case 'probe': {
      const { uid, container, findings } = event;
      const { liveness, startup, readiness, started, ready } = findings;
      const found = { liveness, startup, readiness, started, ready };
      trace({ kind: 'finding', pod: whoseIs(book, uid), container, ...found });
      return;
    }
    case 'wake':
    case 'return':
      trace({ kind: 'wake', pod: whoseIs(book, event.uid) });
      return;
    case 'allSeen':
    case 'runtimeReady':
    case 'drain':
      trace({ kind: 'signal', signal: event.kind });
      return;
    case 'starting': // what is done to the container is told step by step
    case 'outcome': // told with its duration when the work has ended
    case 'evict': // told by the note that follows
      return;
    default:
      assertNever(event);
  }
}

function because(entry: Entry): { readonly why?: string } {
  if ('refusal' in entry) return { why: `${entry.refusal.reason}: ${entry.refusal.message}` };
  return said(entry.why);
}

function said(why: string | undefined): { readonly why?: string } {
  return why === undefined || why === '' ? {} : { why };
}

function identityOf({ metadata: { uid, name, namespace } }: Pod): PodIdentity {
  return { uid, name, namespace };
}

function newestOf({ containers }: ObservedPod): readonly string[] {
  const newest = new Map<string, string>();
  for (const { name, state } of containers) if (!newest.has(name)) newest.set(name, `${name} ${state}`);
  return [...newest.values()];
}
