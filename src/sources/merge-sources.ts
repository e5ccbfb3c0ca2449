import {
  asyncScheduler,
  concatMap,
  distinctUntilChanged,
  filter,
  from,
  map,
  merge,
  scan,
  startWith,
  type Observable,
} from 'rxjs';
import { deepEqual } from '../model/deep-equal.ts';
import { sourceKey, type Desired, type PodChange, type Problem } from '../model/desired.ts';
import { messageOf } from '../model/errors.ts';
import type { ObjectSet } from '../model/objects/object-set.ts';
import type { SourceName } from '../model/pod.ts';
import { keepAlive, type Failure } from '../operators/keep-alive.ts';
import { shareLatest } from '../operators/share-latest.ts';
import { applyDesired, EMPTY_LEDGER, type Ledger } from './apply-desired.ts';

/** One place where intent comes from. */
export interface PodSource {
  readonly name: SourceName;
  /** Tells several sources of one name apart, as their URLs; absent: it is the only one of its name. */
  readonly place?: string;
  readonly desired$: Observable<Desired>;
}

/** What all sources together say. Whoever listens to several of these subscribes to the sources once. */
export interface PodSources {
  /** What one set changed, all of it at once: only so can it be seen that one pod takes the place of another. */
  readonly batch$: Observable<readonly PodChange[]>;
  /** What changed, in the order to act on it. A late listener first hears of every pod that holds as an `add`. */
  readonly change$: Observable<PodChange>;
  /** The sources heard from so far, by name or place, told after the changes of their first set; starts with none. */
  readonly seen$: Observable<ReadonlySet<string>>;
  /** Whether all have been heard from; housekeeping waits for that. Tells the state at once, then its change. */
  readonly allSeen$: Observable<boolean>;
  /** What serves the pods: the set of this moment at once, then each other one. Before any source has spoken, none. */
  readonly objects$: Observable<ObjectSet>;
  /** Everything that is wrong now, of all sources; starts with what is known, then tells each change. */
  readonly problem$: Observable<readonly Problem[]>;
}

/** How long a failed source is left alone, in milliseconds. */
const RETRY = { floor: 1_000, ceiling: 30_000 };

type News =
  | { readonly kind: 'wants'; readonly desired: Desired }
  | { readonly kind: 'seen'; readonly key: string }
  | { readonly kind: 'failed'; readonly key: string; readonly problems: readonly Problem[] };

interface Merged {
  readonly ledger: Ledger;
  /** What `ledger` changed; empty when this news was of another kind. */
  readonly changes: readonly PodChange[];
  readonly seen: ReadonlySet<string>;
  readonly failures: ReadonlyMap<string, readonly Problem[]>;
}

const NOTHING: Merged = { ledger: EMPTY_LEDGER, changes: [], seen: new Set(), failures: new Map() };

/**
 * Merges what every source wants into one ordered stream of changes.
 *
 * ```text
 * file      -f-------------     f: p
 * http      ---h-----------     h: nothing
 * api       -----a---b-----     a: q, r   b: q changed
 * change$   -p---(qr)(RQ)--     R: r removed   Q: q updated
 * ```
 *
 * A source that fails is tried again, alone, after 1 s, 2 s, 4 s, ... at most 30 s; until it speaks, its last
 * set holds and its failure is a problem. One that says that it is unheard only tells its problems. So the merge never errors, and completes when every source has.
 */
export function mergeSources(sources: readonly PodSource[]): PodSources {
  const merged$ = merge(...sources.map(newsOf)).pipe(scan(hear, NOTHING), startWith(NOTHING), shareLatest());
  const seen$ = merged$.pipe(
    map(({ seen }) => seen),
    distinctUntilChanged(),
  );

  const batch$ = merged$.pipe(
    map((merged, index) => (index === 0 ? everythingAdded(merged) : merged.changes)),
    filter((changes) => changes.length > 0),
  );

  return {
    batch$,
    change$: batch$.pipe(concatMap((changes) => from(changes))),
    seen$,
    allSeen$: seen$.pipe(
      // Where there is no source at all, nobody has said that what runs is unwanted.
      map((seen) => sources.length > 0 && sources.every(({ name, place }) => seen.has(place ?? name))),
      distinctUntilChanged(),
    ),
    objects$: merged$.pipe(
      map(({ ledger }) => ledger.objects),
      distinctUntilChanged(),
    ),
    problem$: merged$.pipe(map(problemsOf), distinctUntilChanged<readonly Problem[]>(deepEqual)),
  };
}

/** That a source was heard is news of its own, after its set: nobody may believe all is known before it was told. */
function newsOf({ name: source, place, desired$ }: PodSource): Observable<News> {
  const identity = { source, ...(place !== undefined && { place }) };
  const key = sourceKey(identity);
  return desired$.pipe(
    concatMap((desired): readonly News[] =>
      desired.unheard
        ? [{ kind: 'failed', key, problems: desired.problems }]
        : [
            { kind: 'wants', desired: { ...desired, ...identity } },
            { kind: 'seen', key },
          ],
    ),
    keepAlive({
      ...RETRY,
      report: (failure): News => ({ kind: 'failed', key, problems: [problemOf(identity, failure)] }),
    }),
  );
}

function hear(merged: Merged, news: News): Merged {
  switch (news.kind) {
    case 'wants': {
      const ledger = applyDesired(merged.ledger, news.desired, asyncScheduler.now());
      return {
        ...merged,
        ledger,
        changes: ledger.changes,
        failures: without(merged.failures, sourceKey(news.desired)),
      };
    }
    case 'seen': {
      const known = merged.seen.has(news.key);
      return { ...merged, changes: [], seen: known ? merged.seen : new Set(merged.seen).add(news.key) };
    }
    case 'failed':
      return { ...merged, changes: [], failures: new Map(merged.failures).set(news.key, news.problems) };
  }
}

function problemOf(identity: Pick<Desired, 'source' | 'place'>, { error, retryIn }: Failure): Problem {
  const { source } = identity;
  const message = `the ${source} source failed (${messageOf(error)}); trying again in ${retryIn / 1_000} s`;
  return { source, origin: sourceKey(identity), message };
}

function without<K, V>(entries: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  if (!entries.has(key)) return entries;
  return new Map([...entries].filter(([other]) => other !== key));
}

function everythingAdded({ ledger }: Merged): readonly PodChange[] {
  return [...ledger.wanted].flatMap(([key, { source }]) =>
    [...(ledger.accepted.get(key)?.values() ?? [])].map((pod): PodChange => ({ op: 'add', source, pod })),
  );
}

function problemsOf({ ledger, failures }: Merged): readonly Problem[] {
  return [...[...ledger.problems.values()].flat(), ...[...failures.values()].flat()];
}
