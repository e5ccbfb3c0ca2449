import { concat, defer, filter, from, ignoreElements, merge, mergeMap, timer, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { KeyedBackoff, PodMemory } from '../../model/pod-memory.ts';
import type { PodStatus, PodUid } from '../../model/pod.ts';
import { serializeByKey } from '../../operators/serialize-by-key.ts';
import type { PodBook } from '../book/pod-book.ts';
import type { PodReport } from '../workers/pod-work.ts';

/** What must outlive the agent, and what the runtime does not keep for it. Plain JSON. */
export interface Checkpoint {
  readonly version: 1;
  readonly uid: PodUid;
  readonly status?: PodStatus;
  /** Back-off of crash-looping containers, by container name. */
  readonly restarts?: Readonly<Record<string, KeyedBackoff>>;
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

type Change = { readonly kind: 'keep'; readonly uid: PodUid } | { readonly kind: 'drop'; readonly uid: PodUid };

/** Milliseconds between two writes for one pod at least. */
const PAUSE = 100;

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
 * What an earlier run kept goes on from there; of a pod that is neither wanted nor there any more it is removed, once
 * that is known. Emits what could not be written, and goes on. Never errors, never completes.
 */
export function checkpoints(
  { book$, report$ }: { readonly book$: Observable<PodBook>; readonly report$: Observable<PodReport> },
  store: CheckpointStore,
  kept: readonly Checkpoint[] = [],
): Observable<CheckpointFailure> {
  return defer(() => {
    const statuses = new Map(kept.map(({ uid, status }) => [uid, status]));
    const restarts = new Map<PodUid, Restarts>(
      kept.map((one) => [one.uid, new Map(Object.entries(one.restarts ?? {}))]),
    );
    const unmet = new Set(statuses.keys());

    const change$ = merge(
      book$.pipe(mergeMap((book) => from(changesOf(book, statuses, unmet)))),
      report$.pipe(
        filter((report) => report.kind === 'outcome'),
        mergeMap(({ uid, memory }) => from(rememberedIn(uid, memory, restarts))),
      ),
    );

    function write({ kind, uid }: Change): Observable<never> {
      if (kind === 'drop') {
        restarts.delete(uid);
        return store.remove(uid).pipe(ignoreElements());
      }
      const checkpoint = checkpointOf(uid, statuses.get(uid), restarts.get(uid));
      return concat(store.save(checkpoint).pipe(ignoreElements()), timer(PAUSE).pipe(ignoreElements()));
    }

    return change$.pipe(
      serializeByKey<Change, PodUid, CheckpointFailure>({
        key: ({ uid }) => uid,
        work: write,
        recover: (error, { uid }) => ({ uid, message: messageOf(error) }),
      }),
    );
  });
}

type Statuses = Map<PodUid, PodStatus | undefined>;
type Restarts = PodMemory['restarts'];

/**
 * Notes the statuses that are new, and tells of whom they are; and who is not in the book any more. Before the book is
 * complete, nobody knows that of what no page has met yet.
 */
function changesOf(
  { entries, allSeen, runtimeSeen }: PodBook,
  statuses: Statuses,
  unmet: Set<PodUid>,
): readonly Change[] {
  const changes: Change[] = [];
  for (const { uid, status } of entries.values()) {
    unmet.delete(uid);
    if (!status || statuses.get(uid) === status) continue;
    statuses.set(uid, status);
    changes.push({ kind: 'keep', uid });
  }
  const isComplete = allSeen && runtimeSeen;
  for (const uid of statuses.keys()) {
    if (entries.has(uid) || (unmet.has(uid) && !isComplete)) continue;
    statuses.delete(uid);
    unmet.delete(uid);
    changes.push({ kind: 'drop', uid });
  }
  return changes;
}

function rememberedIn(uid: PodUid, memory: PodMemory | undefined, restarts: Map<PodUid, Restarts>): readonly Change[] {
  if (!memory) return [];
  const before = restarts.get(uid);
  restarts.set(uid, memory.restarts);
  return before === memory.restarts || (!before && memory.restarts.size === 0) ? [] : [{ kind: 'keep', uid }];
}

function checkpointOf(uid: PodUid, status: PodStatus | undefined, restarts: Restarts | undefined): Checkpoint {
  return {
    version: 1,
    uid,
    ...(status ? { status } : {}),
    ...(restarts && restarts.size > 0 ? { restarts: Object.fromEntries(restarts) } : {}),
  };
}
