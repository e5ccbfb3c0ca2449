import { allContainers } from '../../model/containers.ts';
import { configHash } from '../../model/env/config-hash.ts';
import type { ObjectSet } from '../../model/objects/object-set.ts';
import type { Pod, PodUid } from '../../model/pod.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../../model/rxlet-annotations.ts';
import type { SecretMask } from './mask-secrets.ts';

export interface Learning {
  /** Takes note of the Secrets in a set; gives the same set with stand-ins for what they hold. */
  readonly learn: (objects: ObjectSet) => ObjectSet;
  /** A pod that may be marked with digests of Secrets begins, or changes. */
  readonly follow: (pod: Pod) => void;
  readonly forget: (uid: PodUid) => void;
}

/**
 * Keeps a mask up to date. A digest of what Secrets hold is none of what stands for them, so that the one is made to
 * stand for the other: whoever decides again upon the stand-ins finds what was decided then.
 */
export function learnSecrets(mask: SecretMask): Learning {
  const marked = new Map<PodUid, Pod>();
  let objects: ObjectSet | undefined;

  function learnDigests(pod: Pod): void {
    if (!objects) return;
    const masked = mask.learn(objects);
    for (const container of allContainers(pod.spec)) {
      const [real, standIn] = [configHash(pod, container, objects), configHash(pod, container, masked)];
      if (real !== undefined && standIn !== undefined && real !== standIn) mask.replace(real, standIn);
    }
  }

  return {
    learn: (set) => {
      const masked = mask.learn(set);
      if (set !== objects) {
        objects = set;
        for (const pod of marked.values()) learnDigests(pod);
      }
      return masked;
    },
    follow: (pod) => {
      const { uid, annotations } = pod.metadata;
      if (annotations[RESTART_ON_CONFIG_CHANGE] !== 'true') return;
      marked.set(uid, pod);
      learnDigests(pod);
    },
    forget: (uid) => {
      marked.delete(uid);
    },
  };
}
