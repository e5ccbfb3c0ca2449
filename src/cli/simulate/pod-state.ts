import type { PodStatus } from '../../model/pod.ts';
import type { Entry } from '../../streams/book/pod-book.ts';

/** How a pod is, as its row of marbles shows it. */
export type PodState = keyof typeof STATES;

/** What each state looks like, and what it means. */
export const STATES = {
  absent: { symbol: ' ', meaning: '' },
  waiting: { symbol: '.', meaning: 'waiting to run' },
  refused: { symbol: '?', meaning: 'refused by the node' },
  backOff: { symbol: '~', meaning: 'in a back-off' },
  running: { symbol: '-', meaning: 'running, not ready' },
  ready: { symbol: '=', meaning: 'ready' },
  ending: { symbol: '/', meaning: 'ending' },
  succeeded: { symbol: '+', meaning: 'succeeded' },
  failed: { symbol: '!', meaning: 'failed' },
} as const;

/** How a pod is by its page in the book. */
export function podStateOf(entry: Entry): PodState {
  const { phase, status } = entry;
  switch (phase) {
    case 'preparing':
      return 'waiting';
    case 'waiting':
      return status?.reason === 'Evicted' ? 'backOff' : 'waiting';
    case 'refused':
      return 'refused';
    case 'terminating':
    case 'ended':
      return 'ending';
    case 'finished':
      return status?.phase === 'Succeeded' ? 'succeeded' : 'failed';
    case 'syncing':
      if (status?.phase === 'Succeeded') return 'succeeded';
      if (status?.phase === 'Failed') return 'failed';
      if (backOffsOf(entry).length > 0) return 'backOff';
      if (isReady(status)) return 'ready';
      return status?.phase === 'Running' ? 'running' : 'waiting';
  }
}

/** Whether a pod is ready by its status. */
export function isReady(status: PodStatus | undefined): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

export interface BackOff {
  readonly container: string;
  readonly reason: string;
}

/** The containers of a pod that wait in a back-off. */
export function backOffsOf({ status }: Pick<Entry, 'status'>): readonly BackOff[] {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.flatMap(({ name: container, state }) => {
    const reason = state?.waiting?.reason ?? '';
    return reason.endsWith('BackOff') ? [{ container, reason }] : [];
  });
}
