import type { ObservedContainer } from '../../../../src/model/observed.ts';
import { fullName, type Container, type Pod, type PodUid } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import type { ProbeReport } from '../../../../src/streams/probes/probe.ts';

/** A pod as a test tells of it; `seen` lists what the runtime holds, newest first. */
export interface PodSketch {
  readonly uid?: string;
  readonly phase?: 'waiting' | 'syncing' | 'terminating' | 'finished' | 'ended';
  readonly spec: Pod['spec'];
  readonly seen?: readonly ObservedContainer[];
  readonly ips?: readonly string[];
}

export function book(...pods: readonly PodSketch[]): PodBook {
  const facts = { runtimeName: 'containerd', hostIps: [], update: 'prepare', statuses: new Map() } as const;
  return { ...emptyBook(facts), entries: new Map(pods.map((pod) => [uidOf(pod), entry(pod)])) };
}

/** A container of the runtime that has started at 0. */
export function instance(id: string, more: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id,
    name: 'c',
    sandboxId: 's',
    attempt: 0,
    state: 'running',
    createdAt: 0,
    image: '',
    imageRef: '',
    annotations: {},
    ...more,
  };
}

/** One container called `c`. */
export function specOf(container: Omit<Container, 'name'>): Pod['spec'] {
  return { containers: [{ name: 'c', ...container }] };
}

/** Three letters for liveness, startup and readiness (s, f, u), then `+` if started and `!` if ready. */
export function brief(report: ProbeReport): string {
  if (report.kind === 'ended') return 'ended';
  const { containerId, liveness, startup, readiness, started, ready } = report.findings;
  const letters = [liveness, startup, readiness].map((result) => result.charAt(0)).join('');
  const note = report.note ? ` ${report.note.message}` : '';
  return `${containerId} ${letters}${started ? '+' : ''}${ready ? '!' : ''}${note}`;
}

function uidOf({ uid = 'u' }: PodSketch): PodUid {
  return uid as PodUid;
}

function entry(sketch: PodSketch): Entry {
  const uid = uidOf(sketch);
  const { phase = 'syncing', spec, seen = [], ips = ['10.0.0.1'] } = sketch;
  const identity = { uid, name: 'p', namespace: 'default' };
  const known = {
    uid,
    of: identity,
    name: fullName('p', 'default'),
    pod: { metadata: { ...identity, labels: {}, annotations: {} }, spec },
    grace: 30,
    why: '',
    observed: {
      ...identity,
      revision: 1,
      sandboxes: [{ id: 's', attempt: 0, state: 'ready' as const, createdAt: 0, ips }],
      containers: seen,
    },
  };
  if (phase === 'waiting') return { ...known, phase };
  const begun = { ...known, waiting: new Map(), probes: new Map() };
  switch (phase) {
    case 'syncing':
      return { ...begun, phase };
    case 'terminating':
      return { ...begun, phase };
    case 'finished':
      return { ...begun, phase };
    case 'ended':
      return { ...begun, phase };
  }
}
