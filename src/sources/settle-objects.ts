import { deepEqual } from '../model/deep-equal.ts';
import type { Desired } from '../model/desired.ts';
import { keyOf, type LocalObject, type ObjectKey } from '../model/objects/local-object.ts';
import type { ObjectSet } from '../model/objects/object-set.ts';

/**
 * The objects of all sources in one set; of two that hold one of a kind and name, the source that spoke first counts. What
 * did not change stays the very same object, and a set in which nothing did the very same set.
 */
export function settleObjects(before: ObjectSet, wanted: ReadonlyMap<string, Desired>): ObjectSet {
  const byKey = new Map<ObjectKey, LocalObject>();
  for (const object of [...wanted.values()].flatMap(({ objects = [] }) => objects)) {
    const key = keyOf(object);
    if (byKey.has(key)) continue;
    const former = before.byKey.get(key);
    byKey.set(key, former && deepEqual(former, object) ? former : object);
  }
  const isSame =
    byKey.size === before.byKey.size && [...byKey].every(([key, object]) => before.byKey.get(key) === object);
  return isSame ? before : { version: before.version + 1, byKey };
}
