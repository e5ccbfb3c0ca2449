import type { ConfigMap, LocalObject, ObjectKey, PersistentVolumeClaim, Secret } from './local-object.ts';
import { objectKey } from './local-object.ts';

/** All objects that serve the pods of this node at one moment. */
export interface ObjectSet {
  /** Counts the sets that came before: equal numbers, equal sets. */
  readonly version: number;
  readonly byKey: ReadonlyMap<ObjectKey, LocalObject>;
}

export const NO_OBJECTS: ObjectSet = { version: 0, byKey: new Map() };

export function configMapOf({ byKey }: ObjectSet, namespace: string, name: string): ConfigMap | undefined {
  const found = byKey.get(objectKey('ConfigMap', namespace, name));
  return found?.kind === 'ConfigMap' ? found : undefined;
}

export function secretOf({ byKey }: ObjectSet, namespace: string, name: string): Secret | undefined {
  const found = byKey.get(objectKey('Secret', namespace, name));
  return found?.kind === 'Secret' ? found : undefined;
}

export function claimOf({ byKey }: ObjectSet, namespace: string, name: string): PersistentVolumeClaim | undefined {
  const found = byKey.get(objectKey('PersistentVolumeClaim', namespace, name));
  return found?.kind === 'PersistentVolumeClaim' ? found : undefined;
}

/** Keys of what came, went or changed between two sets. */
export function changedKeys({ byKey: before }: ObjectSet, { byKey: after }: ObjectSet): ReadonlySet<ObjectKey> {
  return new Set([...before.keys(), ...after.keys()].filter((key) => before.get(key) !== after.get(key)));
}
