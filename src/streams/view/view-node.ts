import type { Problem } from '../../model/desired.ts';
import { messageOf } from '../../model/errors.ts';
import type { Entry, PodBook, PodPhase } from '../book/pod-book.ts';
import type { PlegHealth } from '../pleg/pleg.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { NodeView, PodView } from './node-view.ts';

export interface ViewFacts {
  readonly book: PodBook;
  readonly problems: readonly Problem[];
  readonly runtime: RuntimeState;
  readonly pleg: PlegHealth;
}

/** What there is to see of the node: a pure function of the book and of what is known beside it. */
export function viewNode({ book, problems, runtime, pleg }: ViewFacts): NodeView {
  const pods = [...book.entries.values()].flatMap((entry) => viewPod(entry) ?? []);
  return {
    pods: pods.toSorted((a, b) => compare(a.pod.metadata.name, b.pod.metadata.name)),
    problems,
    runtime: { ready: runtime.ready, message: runtime.message, name: runtime.name, version: runtime.version },
    plegHealthy: pleg.healthy,
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

const PHASES: Readonly<Record<PodPhase, PodView['phase']>> = {
  preparing: 'waiting',
  waiting: 'waiting',
  refused: 'waiting',
  syncing: 'syncing',
  finished: 'terminated',
  terminating: 'terminating',
  ended: 'terminating',
};

function noteOf({ phase, error, why, successor, refusal }: Entry): string | undefined {
  if (phase === 'preparing') {
    const until = 'the former version runs on until this one can start';
    return error === undefined ? until : `${until}: ${messageOf(error)}`;
  }
  if (phase === 'refused') return `refused, and tried again when that changes: ${refusal?.message ?? ''}`;
  if (error !== undefined) return messageOf(error);
  if (phase === 'waiting' && refusal) return `waits until a pod that is ending has left: ${refusal.message}`;
  if (phase === 'waiting') return 'waits for the runtime, or for an older pod of its name to end';
  if (phase === 'syncing' && successor !== undefined) return 'runs on until its new version can start';
  return phase === 'terminating' ? why : undefined;
}
