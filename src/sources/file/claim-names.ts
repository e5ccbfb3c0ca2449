import type { Position, Problem } from '../../model/desired.ts';
import { fullNameOf, type Pod } from '../../model/pod.ts';
import type { FileMemory, PodOwner } from './file-memory.ts';

/** A pod that a file wants to run. */
export interface Claim {
  readonly path: string;
  readonly pod: Pod;
  readonly position?: Position;
}

export interface Claims {
  readonly pods: readonly Pod[];
  readonly problems: readonly Problem[];
  readonly owners: FileMemory['owners'];
}

/**
 * Settles which file runs a pod when several claim its name or UID: the one that runs it already, else the first one.
 * Every other claim is a problem that names both files, until the first one goes.
 */
export function claimNames(claims: readonly Claim[], formerOwners: FileMemory['owners']): Claims {
  const byName = new Map<string, Claim>();
  const byUid = new Map<string, Claim>();
  const problems = new Map<Claim, Problem>();

  for (const claim of claims.toSorted((a, b) => rank(a, formerOwners) - rank(b, formerOwners))) {
    const { pod } = claim;
    const sameName = byName.get(fullNameOf(pod));
    const sameUid = byUid.get(pod.metadata.uid);
    if (sameName)
      problems.set(claim, duplicate(claim, 'metadata.name', `${nameOf(pod)} already comes from ${sameName.path}`));
    else if (sameUid)
      problems.set(
        claim,
        duplicate(
          claim,
          'metadata.uid',
          `${pod.metadata.uid} is already the UID of ${nameOf(sameUid.pod)} from ${sameUid.path}`,
        ),
      );
    else {
      byName.set(fullNameOf(pod), claim);
      byUid.set(pod.metadata.uid, claim);
    }
  }

  const accepted = claims.filter((claim) => !problems.has(claim));
  return {
    pods: accepted.map(({ pod }) => pod),
    problems: claims.flatMap((claim) => problems.get(claim) ?? []),
    owners: Object.fromEntries(
      accepted.map(({ path, pod }): [string, PodOwner] => [fullNameOf(pod), { path, uid: pod.metadata.uid }]),
    ),
  };
}

/** The pod that runs comes first, then its file, then the order of files. */
function rank({ path, pod }: Claim, owners: FileMemory['owners']): number {
  const owner = Object.hasOwn(owners, fullNameOf(pod)) ? owners[fullNameOf(pod)] : undefined;
  if (owner?.path !== path) return 2;
  return owner.uid === pod.metadata.uid ? 0 : 1;
}

function duplicate({ path, pod, position }: Claim, field: string, message: string): Problem {
  return { source: 'file', origin: path, ...(position && { position }), field, pod: nameOf(pod), message };
}

function nameOf({ metadata: { namespace, name } }: Pod): string {
  return `${namespace}/${name}`;
}
