import type { Pod } from '../pod.ts';
import { checkSysctls } from '../sysctls.ts';
import type { AdmissionNode, Refusal } from './admission-node.ts';
import { amountsOf, totalOf, type Amounts } from './amounts.ts';
import { wantsAppArmor } from './app-armor.ts';
import { chooseVictims } from './choose-victims.ts';
import { findShortages, type Shortage } from './find-shortages.ts';
import { sharesHostPort, wantsHostPort } from './host-ports.ts';
import { isWantedNode } from './node-affinity.ts';
import { isCritical, isStatic } from './rank.ts';
import { toleratesNoExecute } from './tolerates.ts';

/** A pod that has its place on the node already. */
export interface Occupant {
  readonly pod: Pod;
  /** It is being ended, so that its place will be free soon. */
  readonly isLeaving: boolean;
}

/** What is taken of the node. */
export interface Room {
  readonly used: Amounts;
  /** Those that take ports of it. */
  readonly ported: readonly Pod[];
  /** By whom; asked for only where not everything fits. */
  readonly occupants: () => readonly Occupant[];
}

/** What these take of a node. */
export function roomOf(occupants: readonly Occupant[]): Room {
  const pods = occupants.map(({ pod }) => pod);
  return { used: totalOf(pods.map(amountsOf)), ported: pods.filter(wantsHostPort), occupants: () => occupants };
}

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** It fits as soon as those have gone that are being ended anyway. */
  | { readonly kind: 'waits'; readonly refusal: Refusal }
  /** It fits when these are ended for it. */
  | { readonly kind: 'preempts'; readonly victims: readonly Pod[] };

/**
 * Whether a pod may begin on this node beside those that are there, in the kubelet's order of checks and with its
 * reasons (facts sheet 4); the first check that fails has the word.
 *
 * One thing is better than in the kubelet: a pod of the node's own is not refused for want of what a pod that is
 * being ended still holds.
 */
export function admitPod(pod: Pod, taken: Room, node: AdmissionNode): Admission {
  const refusal = checkSysctls(pod, node.allowedUnsafeSysctls) ?? refusalByKind(pod, node);
  if (refusal) return { kind: 'refused', refusal };
  const room = findRoom(pod, taken, node);
  if (room.kind !== 'admitted') return room;
  if (wantsAppArmor(pod) && !node.appArmor)
    return refused('AppArmor', 'Cannot enforce AppArmor: AppArmor is not enabled on the host');
  return ADMITTED;
}

const ADMITTED: Admission = { kind: 'admitted' };

/** What no amount of room could change. */
function refusalByKind({ metadata, spec }: Pod, { supplementalGroupsPolicy }: AdmissionNode): Refusal | undefined {
  if ((metadata.labels[OS_LABEL] ?? OS) !== OS)
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  if ((spec.os?.name ?? OS) !== OS)
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
  if (spec.securityContext?.supplementalGroupsPolicy === 'Strict' && !supplementalGroupsPolicy)
    return {
      reason: 'SupplementalGroupsPolicyNotSupported',
      message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
    };
  return undefined;
}

const OS_LABEL = 'kubernetes.io/os';
const OS = 'linux';

function findRoom(pod: Pod, taken: Room, node: AdmissionNode): Admission {
  const now = whatFails(pod, taken, node);
  if (now.shortages.length === 0 && now.mismatches.length === 0) return ADMITTED;
  const occupants = taken.occupants();
  const staying = occupants.filter(({ isLeaving }) => !isLeaving);
  const later = staying.length < occupants.length ? whatFails(pod, roomOf(staying), node) : now;
  const isSoon = later.shortages.length === 0 && later.mismatches.length === 0;
  if (isStatic(pod) && isSoon) return { kind: 'waits', refusal: firstOf(now) };
  if (!isCritical(pod)) return { kind: 'refused', refusal: firstOf(now) };

  // A critical pod makes room for itself, but only where room is all that it lacks.
  const [mismatch] = now.mismatches;
  if (mismatch) return { kind: 'refused', refusal: mismatch };
  const choice = chooseVictims(
    pod,
    staying.map((other) => other.pod),
    later.shortages,
  );
  if (choice.kind === 'found') return { kind: 'preempts', victims: choice.victims };
  return refused(
    'UnexpectedAdmissionError',
    `Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: ${choice.message}`,
  );
}

interface Failures {
  readonly shortages: readonly Shortage[];
  readonly mismatches: readonly Refusal[];
}

function whatFails(pod: Pod, { used, ported }: Pick<Room, 'used' | 'ported'>, node: AdmissionNode): Failures {
  const mismatches = [
    ...(isWantedNode(pod.spec, node)
      ? []
      : [predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")]),
    ...((pod.spec.nodeName ?? node.nodeName) === node.nodeName
      ? []
      : [predicate('NodeName', "node(s) didn't match the requested node name")]),
    ...(ported.some((other) => sharesHostPort(pod, other))
      ? [predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports")]
      : []),
    ...(isStatic(pod) || toleratesNoExecute(pod.spec, node.taints)
      ? []
      : [predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate")]),
  ];
  return { shortages: findShortages(amountsOf(pod), used, node), mismatches };
}

function firstOf({ shortages: [shortage], mismatches: [mismatch] }: Failures): Refusal {
  if (!shortage) return mismatch ?? { reason: 'UnknownReason', message: 'it does not fit' };
  const { resource, requested, used, capacity } = shortage;
  return {
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  };
}

function predicate(name: string, why: string): Refusal {
  return { reason: name, message: `Predicate ${name} failed: ${why}` };
}

function refused(reason: string, message: string): Admission {
  return { kind: 'refused', refusal: { reason, message } };
}
