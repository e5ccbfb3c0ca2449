import { describe, expect, it } from 'vitest';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { fullNameOf } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import { UNKNOWN_RUNTIME } from '../../../../src/streams/runtime-state/runtime-state.ts';
import { viewNode } from '../../../../src/streams/view/view-node.ts';
import type { NodeView } from '../../../../src/streams/view/node-view.ts';
import { pod } from '../../../marbles/fakes.ts';

const EMPTY = emptyBook({ runtimeName: 'containerd', hostIps: [], update: 'prepare', statuses: new Map() });

const known = (uid: string, of: Pod) => {
  const { name, namespace } = of.metadata;
  return {
    uid: uid as PodUid,
    of: { uid: uid as PodUid, name, namespace },
    name: fullNameOf(of),
    pod: of,
    status: { phase: 'Running' },
    grace: 30,
    why: 'its manifest is gone',
  } satisfies Partial<Entry>;
};
const begun = (uid: string, of: Pod) => ({ ...known(uid, of), waiting: new Map(), probes: new Map() });
const kept = (uid: string, of: Pod): Entry => ({ ...begun(uid, of), phase: 'syncing' });

function view(...entries: readonly Entry[]): NodeView {
  const book: PodBook = { ...EMPTY, entries: new Map(entries.map((its) => [its.uid, its])) };
  return viewNode({ book, problems: [], runtime: UNKNOWN_RUNTIME, pleg: { healthy: true, message: '' } });
}

const named = (name: string, uid: string): Pod => pod({ metadata: { name, uid: uid as PodUid } });

describe('viewNode', () => {
  it('shows pods by name, and those of one name in the order of the book', () => {
    const { pods } = view(kept('1', named('web', '1')), kept('2', named('api', '2')), kept('3', named('web', '3')));
    expect(pods.map(({ pod: { metadata } }) => metadata.uid)).toEqual(['2', '1', '3']);
  });

  it('leaves out what the runtime holds and nobody wants, and what has no status yet', () => {
    const { pod: wanted, ...orphan } = begun('1', pod());
    const { status, ...young } = begun('2', pod());
    expect([wanted, status]).toEqual([pod(), { phase: 'Running' }]);
    expect(view({ ...orphan, phase: 'terminating' }, { ...young, phase: 'syncing' }).pods).toEqual([]);
  });

  const one = begun('1', pod());
  const refusal = { reason: 'OutOfcpu', message: 'no cpu is left' };
  it.each<[string, Entry, string, string | undefined]>([
    ['a pod that is well says nothing', { ...one, phase: 'syncing' }, 'syncing', undefined],
    [
      'a pod that runs until its successor is ready says so',
      { ...one, phase: 'syncing', successor: '2' as PodUid },
      'syncing',
      'runs on until its new version can start',
    ],
    [
      'a successor that is being prepared says who runs, and what fails',
      { ...known('1', pod()), phase: 'preparing', error: new Error('no such image') },
      'waiting',
      'the former version runs on until this one can start: no such image',
    ],
    [
      'a pod that waits says for what',
      { ...known('1', pod()), phase: 'waiting' },
      'waiting',
      'waits for the runtime, or for an older pod of its name to end',
    ],
    [
      'a pod that waits for another to leave says what it lacks',
      { ...known('1', pod()), phase: 'waiting', refusal },
      'waiting',
      'waits until a pod that is ending has left: no cpu is left',
    ],
    [
      'a refused pod says why',
      { ...known('1', pod()), phase: 'refused', refusal },
      'waiting',
      'refused, and tried again when that changes: no cpu is left',
    ],
    ['a pod that is ended says why', { ...one, phase: 'terminating' }, 'terminating', 'its manifest is gone'],
    ['a pod of which nothing runs any more is terminated', { ...one, phase: 'finished' }, 'terminated', undefined],
    [
      'a failure says what failed',
      { ...one, phase: 'syncing', error: new Error('no network') },
      'syncing',
      'no network',
    ],
  ])('%s', (_rule, entry, phase, note) => {
    const [shown] = view(entry).pods;
    expect(shown?.phase).toBe(phase);
    expect(shown?.note).toBe(note);
  });

  it('shows how the runtime is, and whether it can be listed', () => {
    const facts = { book: EMPTY, problems: [], runtime: UNKNOWN_RUNTIME, pleg: { healthy: false, message: 'why' } };
    expect(viewNode(facts)).toMatchObject({
      runtime: { ready: false, message: 'the container runtime has not answered yet' },
      plegHealthy: false,
      plegMessage: 'why',
    });
  });
});
