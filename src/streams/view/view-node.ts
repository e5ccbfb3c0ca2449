import type { Problem } from '../../model/desired.ts';
import { messageWithCall } from '../../model/errors.ts';
import { rfc3339 } from '../../model/rfc3339.ts';
import type { Pod } from '../../model/pod.ts';
import type { Entry, PodBook, PodPhase } from '../book/pod-book.ts';
import type { PlegHealth } from '../pleg/pleg.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { NodeView, PodView } from './node-view.ts';

export interface ViewFacts {
  readonly book: PodBook;
  readonly problems: readonly Problem[];
  readonly runtime: RuntimeState;
  readonly pleg: PlegHealth;
  /** Those that are wanted and stopped by hand. */
  readonly stopped?: readonly Pod[];
}

/** What there is to see of the node: a pure function of the book and of what is known beside it. */
export function viewNode({ book, problems, runtime, pleg, stopped = [] }: ViewFacts): NodeView {
  const pods = [
    ...[...book.entries.values()].flatMap((entry) => viewPod(entry) ?? []),
    ...stopped.flatMap((pod) => (book.entries.has(pod.metadata.uid) ? [] : [viewStopped(pod)])),
  ];
  return {
    pods: pods.toSorted((a, b) => compare(a.pod.metadata.name, b.pod.metadata.name)),
    problems,
    runtime: { ready: runtime.ready, message: runtime.message, name: runtime.name, version: runtime.version },
    plegHealthy: pleg.healthy,
    plegMessage: pleg.message,
  };
}

/** Pods of one name stay in the order of the book: predecessor, successor. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function viewPod(entry: Entry): PodView | undefined {
  const { pod, status, phase } = entry;
  if (!pod || !status) return undefined;
  const note = noteOf(entry);
  return { pod, status, phase: PHASES[phase], ...(note === undefined ? {} : { note }) };
}

function viewStopped(pod: Pod): PodView {
  const note = 'stopped by hand, until it is started again or its manifest changes';
  return { pod, status: {}, phase: 'stopped', note };
}

const PHASES: Readonly<Record<PodPhase, PodView['phase']>> = {
  preparing: 'waiting',
  waiting: 'waiting',
  refused: 'waiting',
  syncing: 'syncing',
  finished: 'terminated',
  terminating: 'terminating',
  ended: 'terminating',
};

function noteOf(entry: Entry): string | undefined {
  const failure = 'error' in entry ? messageWithCall(entry.error) : undefined;
  switch (entry.phase) {
    case 'preparing': {
      const until = 'the former version runs on until this one can start';
      return failure === undefined ? until : `${until}: ${failure}`;
    }
    case 'waiting':
      if (entry.isOut && entry.eviction) return `evicted, begins anew at ${rfc3339(entry.eviction.until)}`;
      return entry.refusal
        ? `waits until a pod that is ending has left: ${entry.refusal.message}`
        : 'waits for the runtime, or for an older pod of its name to end';
    case 'refused':
      return `refused, and tried again when that changes: ${entry.refusal.message}`;
    case 'syncing':
      return failure ?? (entry.successor === undefined ? undefined : 'runs on until its new version can start');
    case 'terminating':
      return failure ?? entry.why;
    case 'ended':
      return failure;
    case 'finished':
      return undefined;
  }
}
