import type { AuthConfig } from '../cri/api.ts';
import { secretOf, type ObjectSet } from '../objects/object-set.ts';
import type { Pod } from '../pod.ts';
import { findAuths, readDockerConfig, type DockerAuths } from './docker-config.ts';

/** What a pod brings along to pull its images with. */
export interface PullSecrets {
  /** By registry, in the order of the pod's list. */
  readonly auths: readonly DockerAuths[];
  /** Names of all that the pod asks for. */
  readonly names: readonly string[];
  /** Names of those that are not there or hold no credentials. */
  readonly missing: readonly string[];
  /** Of the objects that they were looked for in: with others a pull that failed may succeed. */
  readonly version: number;
}

export const NO_PULL_SECRETS: PullSecrets = { auths: [], names: [], missing: [], version: 0 };

/** Reads the `imagePullSecrets` of a pod. */
export function pullSecrets({ metadata: { namespace }, spec }: Pod, objects: ObjectSet): PullSecrets {
  const names = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  if (names.length === 0) return NO_PULL_SECRETS;
  const read = names.map((name) => [name, authsOf(objects, namespace, name)] as const);
  return {
    auths: read.flatMap(([, auths]) => auths ?? []),
    names,
    missing: read.filter(([, auths]) => !auths).map(([name]) => name),
    version: objects.version,
  };
}

/** With which of them a pull was tried, to be said of one that failed; empty where the pod brings none along. */
export function describePullSecrets({ names, missing }: PullSecrets): string {
  if (names.length === 0) return '';
  const found = names.filter((name) => !missing.includes(name));
  const parts = [
    ...(found.length > 0 ? [`image pull secrets: ${found.join(', ')}`] : []),
    ...(missing.length > 0 ? [`image pull secrets that do not exist: ${missing.join(', ')}`] : []),
  ];
  return ` (${parts.join('; ')})`;
}

/** What of it speaks of an image, in the order in which it is to be tried. */
export function authsFor({ auths }: PullSecrets, image: string): readonly AuthConfig[] {
  return auths.flatMap((known) => findAuths(known, image));
}

function authsOf(objects: ObjectSet, namespace: string, name: string): DockerAuths | undefined {
  const { data = {} } = secretOf(objects, namespace, name) ?? {};
  const encoded = data['.dockerconfigjson'] ?? data['.dockercfg'];
  // It was checked when it was decoded, where its type says what it is.
  try {
    return encoded === undefined ? undefined : readDockerConfig(Buffer.from(encoded, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
