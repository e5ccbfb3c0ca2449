import type { V1Container, V1ObjectMeta, V1Pod, V1PodSpec, V1PodStatus } from '@kubernetes/client-node';

/** A Kubernetes API type as it stands in JSON: dates are strings, and nothing may be changed. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Wire<T[Key]> }
      : T;

/** Names one pod for its whole life. Another UID is another pod, even under the same name. */
export type PodUid = string & { readonly __brand: 'PodUid' };

/** `name_namespace`: what two pods of a node may never share at the same time (kubelet, GetPodFullName). */
export type FullName = string & { readonly __brand: 'FullName' };

export type SourceName = 'file' | 'http' | 'api';

export type Container = Wire<V1Container>;
export type PodStatus = Wire<V1PodStatus>;
export type PodSpec = Wire<V1PodSpec>;

export interface PodMetadata extends Omit<Wire<V1ObjectMeta>, 'name' | 'namespace' | 'uid' | 'annotations' | 'labels'> {
  readonly name: string;
  readonly namespace: string;
  readonly uid: PodUid;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** A pod as the agent works with it: decoded, defaulted, validated, with its identity settled. */
export interface Pod extends Omit<Wire<V1Pod>, 'metadata' | 'spec' | 'status'> {
  readonly metadata: PodMetadata;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export function fullNameOf({ metadata: { name, namespace } }: Pick<Pod, 'metadata'>): FullName {
  return fullName(name, namespace);
}

export function fullName(name: string, namespace: string): FullName {
  return `${name}_${namespace}` as FullName;
}
