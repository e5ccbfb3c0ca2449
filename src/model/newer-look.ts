import type { ObservedPod } from './observed.ts';

/** Of two looks at a pod the one that began later, whichever ended first; `one` where they are the same look. */
export function newerLook(one: ObservedPod, other: ObservedPod | undefined): ObservedPod {
  return other && other.revision > one.revision ? other : one;
}
