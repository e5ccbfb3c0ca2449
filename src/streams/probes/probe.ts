import type { Observable } from 'rxjs';
import type { Container, Pod, PodUid } from '../../model/pod.ts';
import type { PodNote, ProbeFindings } from '../workers/pod-work.ts';

export type Probe = NonNullable<Container['livenessProbe']>;
export type ProbeKind = 'liveness' | 'readiness' | 'startup';
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** Whom a probe is about. */
export interface ProbeTarget {
  readonly uid: PodUid;
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: string;
  readonly kind: ProbeKind;
  /** Absent for pods in the network of the host, and while it is not known. */
  readonly podIp: string | undefined;
}

/** What a container answered. `warning` counts as success and is told; `output` is for people. */
export interface ProbeAnswer {
  readonly result: 'success' | 'warning' | 'failure';
  readonly output: string;
}

export interface ProbePorts {
  /**
   * Asks a container once. Emits one answer and completes, within the probe's own timeout; errors when the question
   * could not be put, which says nothing about the container. Unsubscribing cancels it and closes its connection.
   */
  readonly probe: (target: ProbeTarget, probe: Probe) => Observable<ProbeAnswer>;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** The result that a container has had before this agent started; `undefined` begins with the initial one. */
  readonly seed: (uid: PodUid, containerId: string, kind: ProbeKind) => ProbeResult | undefined;
}

/** What holds now for the running instance of a container, and what happened, where that is worth an event. */
export interface ProbeFound {
  readonly kind: 'found';
  readonly uid: PodUid;
  readonly container: string;
  readonly findings: ProbeFindings;
  readonly note?: PodNote;
}

/** The container is probed no more, and nothing has to be remembered of it. */
interface ProbesEnded {
  readonly kind: 'ended';
  readonly uid: PodUid;
  readonly container: string;
}

export type ProbeReport = ProbeFound | ProbesEnded;

/** In the order in which they are first told. */
export const PROBE_KINDS: readonly ProbeKind[] = ['startup', 'liveness', 'readiness'];

export function probeOf(container: Container, kind: ProbeKind): Probe | undefined {
  return container[PROBE_FIELDS[kind]];
}

const PROBE_FIELDS = {
  startup: 'startupProbe',
  liveness: 'livenessProbe',
  readiness: 'readinessProbe',
} as const satisfies Record<ProbeKind, keyof Container>;
