import { CONTAINER_HASH } from '../model/cri/labels.ts';
import { containerHash } from '../model/container-hash.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../model/observed.ts';
import type { KeyedBackoff } from '../model/pod-memory.ts';
import type { Container } from '../model/pod.ts';

/** One thing to do, in words of the runtime. Steps are done in order. */
export type Step =
  /** Ends every container with the pod's grace, then every sandbox. */
  | { readonly do: 'stopPod'; readonly why: string }
  /** `grace` (seconds) is that of the probe that failed, where it has one of its own. */
  | {
      readonly do: 'stopContainer';
      readonly container: ObservedContainer;
      readonly why: string;
      readonly grace?: number;
    }
  /** `quiet`: it takes the place of one with which nothing is wrong, and no event tells of that (kubelet). */
  | { readonly do: 'runSandbox'; readonly attempt: number; readonly quiet?: true }
  /** `attempt` is absent where the runtime knows no earlier instance; then the log files tell. */
  | { readonly do: 'startContainer'; readonly container: Container; readonly attempt?: number; readonly why: string }
  /** A container that was made and never started, because the agent or the runtime died in between. */
  | { readonly do: 'startCreated'; readonly container: Container; readonly created: ObservedContainer }
  /** Gives a running container other amounts of cpu and memory. */
  | { readonly do: 'resizeContainer'; readonly container: Container; readonly running: ObservedContainer }
  | { readonly do: 'removeContainer'; readonly container: ObservedContainer; readonly keepLog?: boolean }
  | { readonly do: 'removeSandbox'; readonly sandbox: ObservedSandbox };

/** Why a container is not running, in the kubelet's words. */
export interface Waiting {
  readonly reason: string;
  readonly message: string;
}

/** What is to become of one container now. */
export type Decision =
  /** It is as it should be. */
  | { readonly kind: 'keep' }
  /** It has ended, and stays so. */
  | { readonly kind: 'leave' }
  /** It goes on with other resources. */
  | { readonly kind: 'resize'; readonly steps: readonly Step[] }
  /** It is ended now, and will not run again. */
  | { readonly kind: 'stop'; readonly steps: readonly Step[] }
  | {
      readonly kind: 'wait';
      readonly name: string;
      readonly waiting: Waiting;
      readonly until: number;
      readonly remember: readonly (readonly [string, KeyedBackoff])[];
    }
  | {
      readonly kind: 'start';
      readonly name: string;
      readonly steps: readonly Step[];
      readonly remember: readonly (readonly [string, KeyedBackoff])[];
    };

export function start(name: string, ...steps: readonly Step[]): Decision {
  return { kind: 'start', name, steps, remember: [] };
}

export function startOf(container: Container, observed: ObservedPod, why: string): Step {
  const newest = newestOf(observed, container.name);
  return { do: 'startContainer', container, why, ...(newest ? { attempt: newest.attempt + 1 } : {}) };
}

export function newestOf({ containers }: ObservedPod, name: string): ObservedContainer | undefined {
  return containers.find((container) => container.name === name);
}

/** Only name and image count; everything else of a definition is taken over at the next start (facts sheet 8.3). */
export function isAsDefined({ annotations }: ObservedContainer, container: Container): boolean {
  return annotations[CONTAINER_HASH] === hashOf(container);
}

/** A definition never changes; who has another one has another object. */
const hashes = new WeakMap<Container, string>();

function hashOf(container: Container): string {
  const known = hashes.get(container);
  if (known !== undefined) return known;
  const hash = containerHash(container.name, container.image ?? '');
  hashes.set(container, hash);
  return hash;
}

/** How a container ended, as restart rules look at it. */
export function exitOf({ detail }: ObservedContainer): { readonly exitCode: number; readonly reason: string } {
  return { exitCode: detail?.exitCode ?? 0, reason: detail?.reason ?? '' };
}
