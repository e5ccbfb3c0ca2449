import { describe, expect, it } from 'vitest';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { fullNameOf } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import { UNKNOWN_RUNTIME } from '../../../../src/streams/runtime-state/runtime-state.ts';
import { viewNode } from '../../../../src/streams/view/view-node.ts';
import type { NodeView } from '../../../../src/streams/view/node-view.ts';
import { pod } from '../../../marbles/fakes.ts';

const EMPTY = emptyBook({ runtimeName: 'containerd', hostIps: [], update: 'prepare', statuses: new Map() });

function entry(uid: string, of: Pod, more: Partial<Entry> = {}): Entry {
  const { name, namespace } = of.metadata;
  return {
    uid: uid as PodUid,
    of: { uid: uid as PodUid, name, namespace },
    name: fullNameOf(of),
    phase: 'syncing',
    pod: of,
    status: { phase: 'Running' },
    grace: 30,
    why: 'its manifest is gone',
    waiting: new Map(),
    probes: new Map(),
    ...more,
  };
}

function view(...entries: readonly Entry[]): NodeView {
  const book: PodBook = { ...EMPTY, entries: new Map(entries.map((its) => [its.uid, its])) };
  return viewNode({ book, problems: [], runtime: UNKNOWN_RUNTIME, pleg: { healthy: true, message: '' } });
}

const named = (name: string, uid: string): Pod => pod({ metadata: { name, uid: uid as PodUid } });

describe('viewNode', () => {
  it('shows pods by name, and those of one name in the order of the book', () => {
    const { pods } = view(entry('1', named('web', '1')), entry('2', named('api', '2')), entry('3', named('web', '3')));
    expect(pods.map(({ pod: { metadata } }) => metadata.uid)).toEqual(['2', '1', '3']);
  });

  it('leaves out what the runtime holds and nobody wants, and what has no status yet', () => {
    const { pod: wanted, ...orphan } = entry('1', pod());
    const { status, ...young } = entry('2', pod());
    expect([wanted, status]).toEqual([pod(), { phase: 'Running' }]);
    expect(view(orphan, young).pods).toEqual([]);
  });

  it.each<[string, Partial<Entry>, string, string | undefined]>([
    ['a pod that is well says nothing', {}, 'syncing', undefined],
    [
      'a pod that waits says for what',
      { phase: 'waiting' },
      'waiting',
      'waits for the runtime, or for an older pod of its name to end',
    ],
    ['a pod that is ended says why', { phase: 'terminating' }, 'terminating', 'its manifest is gone'],
    ['a pod of which nothing runs any more is terminated', { phase: 'finished' }, 'terminated', undefined],
    ['a failure says what failed', { error: new Error('no network') }, 'syncing', 'no network'],
  ])('%s', (_rule, more, phase, note) => {
    const [shown] = view(entry('1', pod(), more)).pods;
    expect(shown?.phase).toBe(phase);
    expect(shown?.note).toBe(note);
  });

  it('shows how the runtime is, and whether it can be listed', () => {
    const facts = { book: EMPTY, problems: [], runtime: UNKNOWN_RUNTIME, pleg: { healthy: false, message: 'why' } };
    expect(viewNode(facts)).toMatchObject({
      runtime: { ready: false, message: 'the container runtime has not answered yet' },
      plegHealthy: false,
    });
  });
});
