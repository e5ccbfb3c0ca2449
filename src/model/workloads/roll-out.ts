import type { Pod, PodSpec } from '../pod.ts';
import { podOfWorkload } from './pod-of-workload.ts';
import { readySince, type PodSights } from './pod-sight.ts';
import type { DaemonSet, Deployment, Share } from './workload.ts';

/** One of the pods that a Deployment or DaemonSet wants now. */
export interface Slot {
  /** Those from the number of replicas up stand in while others are replaced. */
  readonly index: number;
  /** Of the template that the pod is made of. */
  readonly hash: string;
  readonly pod: Pod;
}

export interface Rollout {
  readonly slots: readonly Slot[];
  /** When to look again though nothing has changed; milliseconds since 1970. */
  readonly wakeAt?: number;
}

/**
 * One step from the pods that a workload has towards those that its manifest wants (as the controllers of Kubernetes):
 * never more than `maxSurge` beyond the replicas, never fewer that are available than `maxUnavailable` allows, and where
 * both versions would want one port of the node, the old one goes first.
 *
 * ```text
 * 2 replicas, maxSurge 1          web-0 old   web-1 old
 *                                 web-0 old   web-1 old   web-2 new      until it is ready
 *                                 web-0 new   web-1 old   web-2 new      until it is ready
 *                                 web-0 new   web-1 new   web-2 new      until it is ready
 *                                 web-0 new   web-1 new
 * ```
 *
 * Names stay the same; a slot whose pod is replaced takes the way of an edited pod. `now` is milliseconds since 1970.
 */
export function rollOut(
  workload: Deployment | DaemonSet,
  slots: readonly Slot[],
  sights: PodSights,
  now: number,
): Rollout {
  const { hash, strategy, minReadySeconds } = workload;
  const replicas = workload.kind === 'DaemonSet' ? 1 : workload.replicas;
  const isOld = (slot: Slot): boolean => slot.hash !== hash;
  if (strategy.type === 'Recreate' && (slots.some(isOld) || isLeaving())) return { slots: [] };

  const ready = new Map(slots.map((slot) => [slot, sinceOf(slot)]));
  const isAvailable = (slot: Slot): boolean => (ready.get(slot) ?? Infinity) + minReadySeconds * 1_000 <= now;
  const limits = limitsOf(workload, replicas, slots);
  const base = range(0, replicas).map((index) => slots.find((slot) => slot.index === index) ?? fresh(index));
  const extra = slots.filter(({ index }) => index >= replicas);
  const old = base.filter(isOld);
  // How many that are available may go now.
  let spare = slots.filter(isAvailable).length - (replicas - limits.unavailable);

  const next =
    old.length === 0
      ? [...base, ...extra.filter((slot) => !mayGo(slot))]
      : [...replaceOld(), ...extra.map(renewed), ...standIns(Math.min(limits.surge, old.length) - extra.length)];
  const waits = [...ready.values()].flatMap((since) => since ?? []).map((since) => since + minReadySeconds * 1_000);
  const ahead = waits.filter((at) => at > now);
  return { slots: next, ...(ahead.length > 0 && { wakeAt: Math.min(...ahead) }) };

  function sinceOf({ pod }: Slot): number | undefined {
    const sight = sights.get(pod.metadata.uid);
    return sight?.isUnderWay === true ? readySince(sight) : undefined;
  }

  /** Whether its leaving costs nothing, or no more than is allowed; then that much less is left to allow. */
  function mayGo(slot: Slot): boolean {
    if (!isAvailable(slot)) return sights.get(slot.pod.metadata.uid)?.isUnderWay === true;
    spare -= 1;
    return spare >= 0;
  }

  function replaceOld(): readonly Slot[] {
    const down = new Set(old.filter((slot) => !isAvailable(slot) && mayGo(slot)));
    const going = new Set([...down, ...old.filter((slot) => isAvailable(slot) && mayGo(slot))]);
    return base.map((slot) => (going.has(slot) ? fresh(slot.index) : slot));
  }

  /** A stand-in of a version that is no longer wanted stands in for nobody. */
  function renewed(slot: Slot): Slot {
    return isOld(slot) ? fresh(slot.index) : slot;
  }

  function standIns(missing: number): readonly Slot[] {
    const taken = new Set(extra.map(({ index }) => index));
    const free = range(replicas, replicas + extra.length + Math.max(0, missing)).filter((index) => !taken.has(index));
    return free.slice(0, Math.max(0, missing)).map(fresh);
  }

  function fresh(index: number): Slot {
    return { index, hash, pod: podOfWorkload(workload, nameOf(workload, index)) };
  }

  /** With Recreate nothing of the new version begins before all of the old one has gone. */
  function isLeaving(): boolean {
    const { kind, metadata } = workload;
    const owner = `${kind}/${metadata.namespace}/${metadata.name}`;
    const mine = new Set<string>(slots.map(({ pod }) => pod.metadata.uid));
    return [...sights].some(([uid, sight]) => sight.owner === owner && !mine.has(uid));
  }
}

function nameOf({ kind, metadata: { name } }: Deployment | DaemonSet, index: number): string {
  return kind === 'DaemonSet' && index === 0 ? name : `${name}-${index}`;
}

function limitsOf(
  { strategy }: Deployment | DaemonSet,
  replicas: number,
  slots: readonly Slot[],
): { readonly surge: number; readonly unavailable: number } {
  if (strategy.type === 'Recreate') return { surge: 0, unavailable: replicas };
  const surge = slots.some(({ pod }) => wantsPorts(pod.spec)) ? 0 : amount(strategy.maxSurge, replicas, Math.ceil);
  const unavailable = amount(strategy.maxUnavailable, replicas, Math.floor);
  // Of nothing at all no rollout comes to its end.
  return { surge, unavailable: surge === 0 ? Math.max(1, unavailable) : unavailable };
}

/** Whether a second pod of the kind would want the ports that the first one has. */
function wantsPorts({ hostNetwork, containers, initContainers = [] }: PodSpec): boolean {
  const ports = [...containers, ...initContainers].flatMap((container) => container.ports ?? []);
  return ports.some(({ hostPort }) => (hostPort ?? 0) > 0) || (hostNetwork === true && ports.length > 0);
}

function amount(share: Share, replicas: number, round: (n: number) => number): number {
  return typeof share === 'number' ? share : round((Number.parseInt(share, 10) * replicas) / 100);
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
