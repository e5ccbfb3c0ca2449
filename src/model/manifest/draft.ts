import type { V1Container, V1Pod, V1PodSpec, V1PodTemplateSpec, V1ResourceRequirements } from '@kubernetes/client-node';

/** A Kubernetes API type as a manifest may hold it: the shape is right, but every field may still be missing. */
export type Draft<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Draft<Item>[]
    : T extends object
      ? string extends keyof T
        ? Readonly<Record<string, Draft<T[keyof T]>>>
        : { readonly [Key in keyof T]?: Draft<T[Key]> }
      : T;

export type PodDraft = Draft<V1Pod>;
export type PodSpecDraft = Draft<V1PodSpec>;
export type ContainerDraft = Draft<V1Container>;
export type ResourcesDraft = Draft<V1ResourceRequirements>;
export type PodTemplateDraft = Draft<V1PodTemplateSpec>;
