import type { PodTemplateDraft } from '../manifest/draft.ts';
import type { ManifestOrigin } from '../manifest/settle-identity.ts';
import type { ObjectMetadata } from '../objects/object-metadata.ts';

/** A number of pods, or a share of them as `25%`. */
export type Share = number | string;

interface Common {
  readonly metadata: ObjectMetadata;
  /** As it was decoded, before any default: valid as a pod of every name that it is given. */
  readonly template: PodTemplateDraft;
  /** Tells one version of the template from another; ten hex digits. */
  readonly hash: string;
  /** From where its pods come. */
  readonly origin: ManifestOrigin;
}

export interface Deployment extends Common {
  readonly kind: 'Deployment';
  readonly replicas: number;
  readonly minReadySeconds: number;
  readonly strategy:
    | { readonly type: 'Recreate' }
    | { readonly type: 'RollingUpdate'; readonly maxUnavailable: Share; readonly maxSurge: Share };
}

/** One pod, since there is one node. */
export interface DaemonSet extends Common {
  readonly kind: 'DaemonSet';
  readonly minReadySeconds: number;
  readonly strategy: { readonly type: 'RollingUpdate'; readonly maxUnavailable: Share; readonly maxSurge: Share };
}

export interface Job extends Common {
  readonly kind: 'Job';
  /** Absent: as soon as one pod has succeeded nothing more is begun. */
  readonly completions?: number;
  readonly parallelism: number;
  readonly backoffLimit: number;
  /** Seconds from its begin. */
  readonly activeDeadlineSeconds?: number;
  /** Seconds from its end after which its pods are removed; absent: never. */
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend: boolean;
}

export type Workload = Deployment | DaemonSet | Job;
