import type { PodUid } from './pod.ts';
import type { QosClass } from './qos.ts';

export type CgroupDriver = 'cgroupfs' | 'systemd';

/**
 * The pod's cgroup as CRI wants it, in the form of the driver (facts sheet 11.1): always the whole path from the
 * root of the hierarchy, `/kubepods/burstable/pod<uid>` or its systemd slices.
 */
export function podCgroup(root: string, driver: CgroupDriver, qos: QosClass, uid: PodUid): string {
  return inForm(driver, [...partsOf(root), 'kubepods', ...tier(qos), `pod${uid}`]);
}

/** The cgroup of all pods of a class; that of guaranteed pods is the one of all pods. */
export function qosCgroup(root: string, driver: CgroupDriver, qos: QosClass): string {
  return inForm(driver, [...partsOf(root), 'kubepods', ...tier(qos)]);
}

/** The pod whose cgroup bears this name; `undefined` for every other cgroup. */
export function podOfCgroup(name: string, driver: CgroupDriver): PodUid | undefined {
  if (driver === 'cgroupfs') return /^pod(.+)$/.exec(name)?.[1] as PodUid | undefined;
  return /-pod([^-]+)\.slice$/.exec(name)?.[1]?.replaceAll('_', '-') as PodUid | undefined;
}

function partsOf(root: string): readonly string[] {
  return root.split('/').filter(Boolean);
}

function inForm(driver: CgroupDriver, parts: readonly string[]): string {
  return driver === 'cgroupfs' ? `/${parts.join('/')}` : slices(parts);
}

function tier(qos: QosClass): readonly string[] {
  return qos === 'Guaranteed' ? [] : [qos.toLowerCase()];
}

/** A slice is named after all of its ancestors, so a dash inside a name would be read as a level of its own. */
function slices(parts: readonly string[]): string {
  const names = parts.map((part) => part.replaceAll('-', '_'));
  return names.map((_, depth) => `/${names.slice(0, depth + 1).join('-')}.slice`).join('');
}
