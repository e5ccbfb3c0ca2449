import { deepEqual } from '../model/deep-equal.ts';
import { sourceKey, type Desired, type PodChange, type Problem } from '../model/desired.ts';
import { NO_OBJECTS, type ObjectSet } from '../model/objects/object-set.ts';
import type { Pod, PodUid, SourceName } from '../model/pod.ts';
import { rfc3339Nano } from '../model/rfc3339.ts';
import { CONFIG_MIRROR, CONFIG_SEEN, CONFIG_SOURCE } from '../model/config-annotations.ts';
import { settleObjects } from './settle-objects.ts';
import { claimsOf, settleClaims } from './settle-claims.ts';

/** What every source wants, and what of it holds; each source by its key ({@link sourceKey}). */
export interface Ledger {
  /** The last whole set of each source, as it came. */
  readonly wanted: ReadonlyMap<string, Desired>;
  /** The pods of it that count: no two of them share a name or a UID. */
  readonly accepted: ReadonlyMap<string, ReadonlyMap<PodUid, Pod>>;
  /** What serves the pods: of two sources that hold one object, the one that had it first counts. */
  readonly objects: ObjectSet;
  /** What is wrong with the sets of each source. */
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
  /** What the last set changed, in the order in which it is to be acted on. */
  readonly changes: readonly PodChange[];
}

export const EMPTY_LEDGER: Ledger = {
  wanted: new Map(),
  accepted: new Map(),
  objects: NO_OBJECTS,
  problems: new Map(),
  changes: [],
};

const ORDER = ['remove', 'add', 'update', 'delete', 'reconcile'] as const satisfies readonly PodChange['op'][];

/**
 * Takes in one whole set and tells what it changed (facts sheet 3).
 *
 * A pod whose name or UID is taken, by its own source or by another, waits as a problem: the one that was
 * there first stays. It comes in as soon as the other goes, whichever source that was.
 * `now` is in milliseconds since 1970.
 */
export function applyDesired(ledger: Ledger, desired: Desired, now: number): Ledger {
  const wanted = new Map(ledger.wanted).set(sourceKey(desired), desired);
  const accepted = new Map(ledger.accepted);
  const problems = new Map(ledger.problems);
  const changes: PodChange[] = [];

  for (const set of [desired, ...waiting(wanted, ledger, sourceKey(desired))]) {
    const { source, problems: own } = set;
    const key = sourceKey(set);
    const before = accepted.get(key) ?? new Map<PodUid, Pod>();
    const { fit, rejected } = settleClaims(set, before, claimsOf(others(accepted, key)));
    const after = new Map(fit.map((pod) => [pod.metadata.uid, settle(source, pod, before.get(pod.metadata.uid), now)]));
    accepted.set(key, after);
    problems.set(key, [...own, ...rejected]);
    changes.push(...diffPods(source, before, after));
  }
  return { wanted, accepted, objects: settleObjects(ledger.objects, wanted), problems, changes: inOrder(changes) };
}

/** Other sources of which some pods were not let in; a name may have become free. */
function waiting(wanted: Ledger['wanted'], { accepted }: Ledger, except: string): readonly Desired[] {
  return [...wanted].flatMap(([key, desired]) =>
    key !== except && desired.pods.length > (accepted.get(key)?.size ?? 0) ? desired : [],
  );
}

function others(accepted: Ledger['accepted'], except: string): Ledger['accepted'] {
  return new Map([...accepted].filter(([key]) => key !== except));
}

/** The pod as it is kept: the record from before where nothing changed, else the new one with our annotations. */
function settle(source: SourceName, pod: Pod, before: Pod | undefined, now: number): Pod {
  const same = before !== undefined && sameIntent(before, pod);
  if (same && deepEqual(before.status, pod.status)) return before;

  const seen = before?.metadata.annotations[CONFIG_SEEN] ?? rfc3339Nano(now);
  const annotations = { ...pod.metadata.annotations, [CONFIG_SOURCE]: source, [CONFIG_SEEN]: seen };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

function diffPods(
  source: SourceName,
  before: ReadonlyMap<PodUid, Pod>,
  after: ReadonlyMap<PodUid, Pod>,
): readonly PodChange[] {
  const removed = [...before.values()].filter(({ metadata: { uid } }) => !after.has(uid));
  return [
    ...removed.map((pod) => ({ op: 'remove' as const, source, pod })),
    ...[...after.values()].flatMap((pod) => {
      const old = before.get(pod.metadata.uid);
      return old === pod ? [] : [{ op: opOf(old, pod), source, pod }];
    }),
  ];
}

function opOf(old: Pod | undefined, pod: Pod): PodChange['op'] {
  if (!old) return 'add';
  if (sameIntent(old, pod)) return 'reconcile';
  return pod.metadata.deletionTimestamp === undefined ? 'update' : 'delete';
}

function sameIntent(a: Pod, b: Pod): boolean {
  return (
    deepEqual(a.spec, b.spec) &&
    deepEqual(a.metadata.labels, b.metadata.labels) &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
    a.metadata.deletionGracePeriodSeconds === b.metadata.deletionGracePeriodSeconds &&
    deepEqual(withoutLocal(a.metadata.annotations), withoutLocal(b.metadata.annotations))
  );
}

function withoutLocal(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string | undefined>> {
  return { ...annotations, [CONFIG_SOURCE]: undefined, [CONFIG_SEEN]: undefined, [CONFIG_MIRROR]: undefined };
}

function inOrder(changes: readonly PodChange[]): readonly PodChange[] {
  return ORDER.flatMap((op) => changes.filter((change) => change.op === op));
}
