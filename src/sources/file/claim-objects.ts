import type { Position, Problem } from '../../model/desired.ts';
import { deepEqual } from '../../model/deep-equal.ts';
import { keyOf, type LocalObject } from '../../model/objects/local-object.ts';
import type { FileMemory } from './file-memory.ts';

/** An object that a file holds. */
export interface ObjectClaim {
  readonly path: string;
  readonly object: LocalObject;
  readonly position?: Position;
}

export interface ClaimedObjects {
  readonly objects: readonly LocalObject[];
  readonly problems: readonly Problem[];
  readonly owners: NonNullable<FileMemory['objectOwners']>;
}

/**
 * Settles which file an object comes from when several hold one of its kind and name: the one that had it already, else
 * the first. Every other one is a problem that names both files.
 */
export function claimObjects(
  claims: readonly ObjectClaim[],
  formerOwners: FileMemory['objectOwners'] = {},
): ClaimedObjects {
  const holders = new Map<string, ObjectClaim>();
  const problems = new Map<ObjectClaim, Problem>();
  const isFormer = ({ path, object }: ObjectClaim): boolean => formerOwners[keyOf(object)] === path;

  for (const claim of [...claims.filter(isFormer), ...claims.filter((one) => !isFormer(one))]) {
    const holder = holders.get(keyOf(claim.object));
    if (holder) problems.set(claim, duplicate(claim, holder));
    else holders.set(keyOf(claim.object), claim);
  }

  const accepted = claims.filter((claim) => !problems.has(claim));
  return {
    objects: accepted.map(({ object }) => object),
    problems: claims.flatMap((claim) => problems.get(claim) ?? []),
    owners: Object.fromEntries(accepted.map(({ path, object }) => [keyOf(object), path])),
  };
}

/** What says of itself that it never changes keeps the data with which it came, until it is removed. */
export function keepImmutable(claim: ObjectClaim, former: LocalObject | undefined): readonly [ObjectClaim, Problem?] {
  const { object, path, position } = claim;
  if (!former || !isImmutable(former) || deepEqual(dataOf(former), dataOf(object))) return [claim];
  const message = 'is immutable: its data must not change; remove it first, or give the new one another name';
  return [
    { ...claim, object: former },
    { source: 'file', origin: path, ...(position && { position }), object: keyOf(object), message },
  ];
}

function isImmutable(object: LocalObject): boolean {
  return (object.kind === 'ConfigMap' || object.kind === 'Secret') && object.immutable;
}

function dataOf(object: LocalObject): unknown {
  if (object.kind === 'ConfigMap') return [object.data, object.binaryData, object.immutable];
  return object.kind === 'Secret' ? [object.data, object.type, object.immutable] : undefined;
}

function duplicate({ path, object, position }: ObjectClaim, holder: ObjectClaim): Problem {
  const { kind, metadata } = object;
  const message = `the ${kind} ${metadata.namespace}/${metadata.name} already comes from ${holder.path}`;
  const at = position && { position };
  return { source: 'file', origin: path, ...at, field: 'metadata.name', object: keyOf(object), message };
}
