import { expand } from '../expand.ts';
import type { Container } from '../pod.ts';

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

/** Which part of its volume a mount wants (empty: all of it), or why that cannot be said. */
export type SubPath =
  { readonly kind: 'path'; readonly path: string } | { readonly kind: 'wrong'; readonly message: string };

/**
 * The part of its volume that a mount wants, with the variables of the container put in. One that is not set is an
 * error here, other than in a command: it would be a part of the volume that nobody meant (facts sheet 15.5).
 */
export function subPathOf(
  { subPath = '', subPathExpr = '' }: VolumeMount,
  variables: ReadonlyMap<string, string>,
): SubPath {
  if (subPathExpr === '') return checked(subPath);
  const missing = new Set<string>();
  const path = expand(subPathExpr, {
    get: (name) => {
      const value = variables.get(name);
      if (value === undefined) missing.add(name);
      return value;
    },
  });
  return missing.size > 0 ? wrong(`missing value for ${[...missing].join(', ')}`) : checked(path);
}

function checked(path: string): SubPath {
  if (path.startsWith('/')) return wrong(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..')) return wrong(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return { kind: 'path', path };
}

function wrong(message: string): SubPath {
  return { kind: 'wrong', message };
}
