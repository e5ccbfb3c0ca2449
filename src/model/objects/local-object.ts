import type { V1PersistentVolumeClaimSpec } from '@kubernetes/client-node';
import type { Wire } from '../pod.ts';
import type { Workload } from '../workloads/workload.ts';
import type { ObjectMetadata } from './object-metadata.ts';

export interface ConfigMap {
  readonly kind: 'ConfigMap';
  readonly metadata: ObjectMetadata;
  readonly data: Readonly<Record<string, string>>;
  /** In base 64. */
  readonly binaryData: Readonly<Record<string, string>>;
  readonly immutable: boolean;
}

/** Never to be shown, logged, or written anywhere but into memory: not the object, and none of its values. */
export interface Secret {
  readonly kind: 'Secret';
  readonly metadata: ObjectMetadata;
  readonly type: string;
  /** In base 64; `stringData` has been taken in. */
  readonly data: Readonly<Record<string, string>>;
  readonly immutable: boolean;
}

export interface PersistentVolumeClaim {
  readonly kind: 'PersistentVolumeClaim';
  readonly metadata: ObjectMetadata;
  readonly spec: Wire<V1PersistentVolumeClaimSpec>;
}

/** What serves pods, or stands for some, as it would from an API server: decoded, defaulted, validated. */
export type LocalObject = ConfigMap | Secret | PersistentVolumeClaim | Workload;

export type ObjectKind = LocalObject['kind'];

/** `kind/namespace/name`: no two objects share it. */
export type ObjectKey = string & { readonly __brand: 'ObjectKey' };

export function objectKey(kind: ObjectKind, namespace: string, name: string): ObjectKey {
  return `${kind}/${namespace}/${name}` as ObjectKey;
}

export function keyOf({ kind, metadata: { namespace, name } }: LocalObject): ObjectKey {
  return objectKey(kind, namespace, name);
}
