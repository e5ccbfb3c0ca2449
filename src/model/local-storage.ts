import type { PodSpec } from './pod.ts';
import { podLimits } from './pod-resources.ts';
import { formatQuantity, parseQuantity, wholeValue } from './quantity.ts';

interface Limit {
  /** As the manifest has it. */
  readonly text: string;
  readonly bytes: number;
}

/** What a pod may take of the disk of its node; absent and empty: as much as there is. */
export interface LocalLimits {
  /** By name of the emptyDir. */
  readonly volumes: ReadonlyMap<string, Limit>;
  /** Of all containers together. */
  readonly pod?: Limit;
  /** By container name. */
  readonly containers: ReadonlyMap<string, Limit>;
}

/** Bytes that a pod takes of the disk of its node. */
export interface LocalUse {
  /** By name of the emptyDir. */
  readonly volumes: ReadonlyMap<string, number>;
  /** Logs and writable layer, by container name. */
  readonly containers: ReadonlyMap<string, number>;
}

const EPHEMERAL_STORAGE = 'ephemeral-storage';

/** `undefined` where nothing of the pod has a limit, so that nothing has to be measured. A limit of 0 is none. */
export function localLimits(spec: PodSpec): LocalLimits | undefined {
  const volumes = diskVolumes(spec).map(({ name, emptyDir }) => [name, limitOf(emptyDir?.sizeLimit)] as const);
  const containers = spec.containers.map(
    ({ name, resources }) => [name, limitOf(resources?.limits?.[EPHEMERAL_STORAGE])] as const,
  );
  const pod = limitOf(podLimits(spec)[EPHEMERAL_STORAGE]);
  const limits = { volumes: known(volumes), containers: known(containers), ...(pod ? { pod } : {}) };
  return limits.volumes.size + limits.containers.size > 0 || pod ? limits : undefined;
}

/** The emptyDirs that take disk: memory and huge pages hold their limits by themselves. */
export function diskVolumes({ volumes = [] }: PodSpec): NonNullable<PodSpec['volumes']> {
  return volumes.filter(({ emptyDir }) => emptyDir && (emptyDir.medium ?? '') === '');
}

/** Why a pod is evicted: the first limit that it is over, in the kubelet's order and words (facts sheet 22). */
export function whatIsOver(limits: LocalLimits, use: LocalUse): string | undefined {
  return standings(limits, use).find(({ left }) => left < 0)?.message;
}

/** Bytes that may still be written until the first limit is reached. */
export function roomLeft(limits: LocalLimits, use: LocalUse): number {
  return Math.min(...standings(limits, use).map(({ left }) => left));
}

interface Standing {
  readonly left: number;
  readonly message: string;
}

function standings({ volumes, pod, containers }: LocalLimits, use: LocalUse): readonly Standing[] {
  const total = [...use.volumes.values(), ...use.containers.values()].reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...[...volumes].map(([name, { text, bytes }]) => ({
      left: bytes - (use.volumes.get(name) ?? 0),
      message: `Usage of EmptyDir volume "${name}" exceeds the limit "${text}". `,
    })),
    ...(pod
      ? [
          {
            left: pod.bytes - total,
            message: `Pod ephemeral local storage usage exceeds the total limit of containers ${pod.text}. `,
          },
        ]
      : []),
    ...[...containers].map(([name, { text, bytes }]) => ({
      left: bytes - (use.containers.get(name) ?? 0),
      message: `Container ${name} exceeded its local ephemeral storage limit "${text}". `,
    })),
  ];
}

function limitOf(text: string | undefined): Limit | undefined {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  if (!quantity || quantity.nano <= 0n) return undefined;
  return { text: formatQuantity(quantity), bytes: wholeValue(quantity) };
}

function known(limits: readonly (readonly [string, Limit | undefined])[]): ReadonlyMap<string, Limit> {
  return new Map(limits.flatMap(([name, limit]) => (limit ? [[name, limit] as const] : [])));
}
