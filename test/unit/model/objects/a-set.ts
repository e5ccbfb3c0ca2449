import {
  keyOf,
  type ConfigMap,
  type LocalObject,
  type PersistentVolumeClaim,
  type Secret,
} from '../../../../src/model/objects/local-object.ts';
import type { ObjectSet } from '../../../../src/model/objects/object-set.ts';

export function aSet(...objects: readonly LocalObject[]): ObjectSet {
  return { version: 1, byKey: new Map(objects.map((object) => [keyOf(object), object])) };
}

export function aConfigMap(name: string, data: ConfigMap['data'], binaryData: ConfigMap['binaryData'] = {}): ConfigMap {
  return { kind: 'ConfigMap', metadata: named(name), data, binaryData, immutable: false };
}

/** A Secret of plain texts. */
export function aSecret(name: string, texts: Readonly<Record<string, string>>, type = 'Opaque'): Secret {
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
  return { kind: 'Secret', metadata: named(name), type, data: Object.fromEntries(data), immutable: false };
}

export function aClaim(name: string): PersistentVolumeClaim {
  return { kind: 'PersistentVolumeClaim', metadata: named(name), spec: {} };
}

function named(name: string): ConfigMap['metadata'] {
  return { name, namespace: 'default', labels: {}, annotations: {} };
}
