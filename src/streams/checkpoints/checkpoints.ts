import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  merge,
  mergeMap,
  of,
  race,
  take,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { changedKeys } from '../../model/layered-map.ts';
import { NO_MEMORY, type AppliedResources, type KeyedBackoff, type PodMemory } from '../../model/pod-memory.ts';
import type { PodStatus, PodUid } from '../../model/pod.ts';
import type { Eviction } from '../../model/restart/eviction.ts';
import { emitAll } from '../../operators/emit-all.ts';
import { serializeByKey } from '../../operators/serialize-by-key.ts';
import { tellByKey } from '../../operators/tell-by-key.ts';
import type { PodBook } from '../book/pod-book.ts';
import type { PodReport } from '../workers/pod-work.ts';

/** What must outlive the agent, and what the runtime does not keep for it. Plain JSON. */
export interface Checkpoint {
  readonly version: 1;
  readonly uid: PodUid;
  readonly status?: PodStatus;
  /** Back-off of crash-looping containers, by container name. */
  readonly restarts?: Readonly<Record<string, KeyedBackoff>>;
  /** That the pod was evicted the last time. */
  readonly eviction?: Eviction;
  /** What the running containers were given, by container name. */
  readonly resources?: Readonly<Record<string, AppliedResources>>;
}

/** Where checkpoints are kept. Cold Observables; each write replaces the whole checkpoint or nothing. */
export interface CheckpointStore {
  /** Emits everything that is kept, once; what cannot be read is left out. */
  readonly load: () => Observable<readonly Checkpoint[]>;
  readonly save: (checkpoint: Checkpoint) => Observable<undefined>;
  readonly remove: (uid: PodUid) => Observable<undefined>;
}

export interface CheckpointFailure {
  readonly uid: PodUid;
  readonly message: string;
}

interface Change {
  readonly kind: 'keep' | 'drop';
  readonly uid: PodUid;
  /** That it cannot wait for the pause after a write. */
  readonly isUrgent: boolean;
}

/** Milliseconds at least from one write of the status of a pod to the next. */
const PAUSE = 1_000;
/** Milliseconds that the first status of a pod may wait while it only says that nothing of the pod runs yet: mostly it starts meanwhile. */
const FIRST = 5_000;
/** Milliseconds until what could not be written is tried again, unless there is something newer to write before. */
const RETRY = 10_000;

/**
 * Keeps one checkpoint per pod up to date: its status, and the back-off of its containers.
 *
 * ```text
 * book        -p--q-------r---      p, q: statuses of one pod; r: the pod is forgotten
 * save        --w---------          q waits while p is written, and is written in its turn
 *                 ---w
 * remove                  --x
 * ```
 *
 * What belongs together, the status and what its containers were given, is heard in one step and written once; and what
 * is written already is not written again. What cannot be written is tried again every 10 s. What an earlier run kept
 * goes on from there; of a pod that is neither wanted nor there any more it is removed, once that is known. Emits what
 * could not be written, each time. Never errors, never completes.
 */
export function checkpoints(
  { book$, report$ }: { readonly book$: Observable<PodBook>; readonly report$: Observable<PodReport> },
  store: CheckpointStore,
  kept: readonly Checkpoint[] = [],
): Observable<CheckpointFailure> {
  return defer(() => {
    const statuses = new Map(kept.map(({ uid, status }) => [uid, status]));
    const evictions: Evictions = new Map(kept.map(({ uid, eviction }) => [uid, eviction]));
    const memories = new Map<PodUid, Kept>(kept.map((one) => [one.uid, memoryOf(one)]));
    const unmet = new Set(statuses.keys());
    const known: Known = { statuses, evictions, memories, unmet, entries: new Map(), strays: new Set(unmet) };
    const written = new Map(kept.map(({ uid }) => [uid, partsOf(uid, known)]));

    const newer = tellByKey<PodUid, Change>();
    const change$ = merge(
      book$.pipe(emitAll((book) => changesOf(book, known))),
      report$.pipe(
        filter((report) => report.kind === 'outcome'),
        emitAll(({ uid, memory }) => rememberedIn(uid, memory, known)),
      ),
    );

    function write(change: Change): Observable<never> {
      const { kind, uid } = change;
      if (kind === 'drop') {
        written.delete(uid);
        return store.remove(uid).pipe(ignoreElements());
      }
      return concat(
        gather(change),
        defer(() => save(uid)),
      ).pipe(ignoreElements());
    }

    /** Completes when all that is known of the pod at this moment has been heard, or it is worth to be written. */
    function gather({ uid, isUrgent }: Change): Observable<unknown> {
      const hasBegun = (): boolean => written.has(uid) || statuses.get(uid)?.phase !== 'Pending';
      const begun$ = newer.of(uid).pipe(filter((next) => next.isUrgent || hasBegun()));
      const start$ = isUrgent || hasBegun() ? EMPTY : race(timer(FIRST), begun$).pipe(take(1));
      return concat(start$, timer(0));
    }

    function save(uid: PodUid): Observable<unknown> {
      const parts = partsOf(uid, known);
      if (isSame(parts, written.get(uid) ?? NOTHING)) return EMPTY;
      const save$ = store.save(checkpointOf(uid, parts)).pipe(
        tap({
          complete: () => {
            written.set(uid, parts);
          },
        }),
      );
      const urgent$ = newer.of(uid).pipe(filter(({ isUrgent }) => isUrgent));
      // Beside each other, so that what is urgent is heard while a status is being written, too.
      return merge(save$, timer(PAUSE).pipe(takeUntil(urgent$)));
    }

    function writeAtLast(change: Change): Observable<CheckpointFailure> {
      const { uid } = change;
      return write(change).pipe(
        catchError((error: unknown) =>
          concat(
            of({ uid, message: messageOf(error) }),
            race(timer(RETRY), newer.of(uid)).pipe(
              take(1),
              mergeMap((first) => (first === 0 ? writeAtLast(change) : EMPTY)),
            ),
          ),
        ),
      );
    }

    return change$.pipe(
      // When its lane has it, so that what is waiting there is folded into it and is not written first.
      newer.afterwards(({ uid }) => uid),
      serializeByKey<Change, PodUid, CheckpointFailure>({
        key: ({ uid }) => uid,
        work: writeAtLast,
        recover: (error, { uid }) => ({ uid, message: messageOf(error) }),
      }),
    );
  });
}

type Evictions = Map<PodUid, Eviction | undefined>;

interface Known {
  readonly statuses: Map<PodUid, PodStatus | undefined>;
  readonly evictions: Evictions;
  readonly memories: Map<PodUid, Kept>;
  readonly unmet: Set<PodUid>;
  /** The last book. */
  entries: PodBook['entries'];
  /** Of whom something may be kept though they are in no book. */
  readonly strays: Set<PodUid>;
}

/** What of a pod's memory is kept. */
type Kept = Pick<PodMemory, 'restarts' | 'resources'>;

/** What a checkpoint is made of. */
interface Parts {
  readonly status?: PodStatus | undefined;
  readonly eviction?: Eviction | undefined;
  readonly restarts?: Kept['restarts'] | undefined;
  readonly resources?: Kept['resources'] | undefined;
}

const NOTHING: Parts = {};

function partsOf(uid: PodUid, { statuses, evictions, memories }: Known): Parts {
  const { restarts, resources }: Partial<Kept> = memories.get(uid) ?? {};
  return { status: statuses.get(uid), eviction: evictions.get(uid), restarts, resources };
}

function isSame(one: Parts, other: Parts): boolean {
  return (
    one.status === other.status &&
    one.eviction === other.eviction &&
    one.restarts === other.restarts &&
    one.resources === other.resources
  );
}

/**
 * Notes the statuses that are new, and tells of whom they are; and who is not in the book any more. Before the book is
 * complete, nobody knows that of what no page has met yet.
 */
function changesOf({ entries, allSeen, runtimeSeen }: PodBook, known: Known): readonly Change[] {
  const { statuses, evictions, memories, unmet, strays } = known;
  const changes: Change[] = [];
  const changed = changedKeys(known.entries, entries);
  known.entries = entries;
  for (const uid of changed) {
    const entry = entries.get(uid);
    if (!entry) {
      strays.add(uid);
      continue;
    }
    const { status, eviction } = entry;
    unmet.delete(uid);
    evictions.set(uid, eviction); // shows in the status, too
    if (!status || statuses.get(uid) === status) continue;
    statuses.set(uid, status);
    changes.push({ kind: 'keep', uid, isUrgent: false });
  }
  const isComplete = allSeen && runtimeSeen;
  // Of what was found running and ended there may be a memory only.
  for (const uid of strays) {
    if (unmet.has(uid) && !isComplete) continue;
    strays.delete(uid);
    if (entries.has(uid) || (!statuses.has(uid) && !memories.has(uid))) continue;
    statuses.delete(uid);
    evictions.delete(uid);
    memories.delete(uid);
    unmet.delete(uid);
    changes.push({ kind: 'drop', uid, isUrgent: true });
  }
  return changes;
}

/** The memory with which a pod of an earlier run goes on: restarting the agent neither forgives nor punishes it. */
export function memoryOf({ restarts = {}, resources = {} }: Checkpoint): PodMemory {
  return { ...NO_MEMORY, restarts: new Map(Object.entries(restarts)), resources: new Map(Object.entries(resources)) };
}

function rememberedIn(
  uid: PodUid,
  memory: PodMemory | undefined,
  { memories, entries, strays }: Known,
): readonly Change[] {
  if (!memory) return [];
  const before = memories.get(uid);
  memories.set(uid, memory);
  if (!entries.has(uid)) strays.add(uid);
  const isSame = before
    ? before.restarts === memory.restarts && before.resources === memory.resources
    : memory.restarts.size === 0 && memory.resources.size === 0;
  // The runtime can tell a status again, but not the back-off, nor what containers were given: an agent that is killed now would forget it.
  return isSame ? [] : [{ kind: 'keep', uid, isUrgent: true }];
}

function checkpointOf(uid: PodUid, { status, eviction, restarts, resources }: Parts): Checkpoint {
  return {
    version: 1,
    uid,
    ...(status ? { status } : {}),
    ...(eviction ? { eviction } : {}),
    ...(restarts && restarts.size > 0 ? { restarts: Object.fromEntries(restarts) } : {}),
    ...(resources && resources.size > 0 ? { resources: Object.fromEntries(resources) } : {}),
  };
}
