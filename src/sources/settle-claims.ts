import { CONFIG_MIRROR } from '../model/config-annotations.ts';
import { sourceKey, type Desired, type Problem } from '../model/desired.ts';
import { fullNameOf, type Pod, type PodUid } from '../model/pod.ts';

/** Who holds a full name or a UID, in words. */
export type Claims = ReadonlyMap<string, string>;

export interface Settled {
  /** The pods of the set that may hold, in its order. */
  readonly fit: readonly Pod[];
  /** One problem for each that may not. */
  readonly rejected: readonly Problem[];
}

/** Who holds what, by the keys of the sources. */
export function claimsOf(accepted: ReadonlyMap<string, ReadonlyMap<PodUid, Pod>>): Claims {
  const holders = new Map<string, string>();
  for (const [key, pods] of accepted) {
    const holder = key.includes(':') ? `a pod from ${key}` : `a pod of the ${key} source`;
    for (const pod of pods.values()) claim(holders, pod, holder);
  }
  return holders;
}

/**
 * Sorts out which pods of a set may hold, so that no name and no UID is held twice (facts sheet 3).
 * `before` are the pods of this source that hold already: they choose first, whatever their place in the set.
 */
export function settleClaims(
  set: Pick<Desired, 'source' | 'place' | 'pods'>,
  before: ReadonlyMap<PodUid, Pod>,
  others: Claims,
): Settled {
  const { pods } = set;
  const holders = new Map(others);
  const fit = new Set<Pod>();
  const rejected = new Map<Pod, Problem>();
  const holds = new Set(pods.filter((pod) => isSamePod(pod, before.get(pod.metadata.uid))));

  for (const pod of [...holds, ...pods.filter((other) => !holds.has(other))]) {
    const taken = identitiesOf(pod).find((identity) => holders.has(identity));
    if (taken === undefined) {
      fit.add(pod);
      claim(holders, pod, 'another pod of this source');
    } else {
      rejected.set(pod, duplicate(set, pod, taken, holders.get(taken) ?? 'another pod'));
    }
  }
  return {
    fit: pods.filter((pod) => fit.has(pod)),
    rejected: pods.flatMap((pod) => rejected.get(pod) ?? []),
  };
}

function isSamePod(pod: Pod, other: Pod | undefined): boolean {
  return other !== undefined && fullNameOf(pod) === fullNameOf(other);
}

function claim(holders: Map<string, string>, pod: Pod, holder: string): void {
  for (const identity of identitiesOf(pod)) holders.set(identity, holder);
}

/** A mirror pod stands in the API under the name of the static pod that it shows. */
function identitiesOf(pod: Pod): readonly string[] {
  const { uid, annotations } = pod.metadata;
  return annotations[CONFIG_MIRROR] === undefined ? [uid, fullNameOf(pod)] : [uid];
}

function duplicate(set: Pick<Desired, 'source' | 'place'>, { metadata }: Pod, taken: string, holder: string): Problem {
  const { name, namespace, uid } = metadata;
  const what = taken === uid ? `the UID ${uid}` : 'this name and namespace';
  return {
    source: set.source,
    origin: sourceKey(set),
    field: taken === uid ? 'metadata.uid' : 'metadata.name',
    pod: `${namespace}/${name}`,
    message: `the pod ${namespace}/${name} is left out: ${holder} already has ${what}`,
  };
}
