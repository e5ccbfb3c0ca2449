import { describe, expect, it } from 'vitest';
import type { Desired } from '../../../src/model/desired.ts';
import type { Pod, PodUid, SourceName } from '../../../src/model/pod.ts';
import { applyDesired, EMPTY_LEDGER, type Ledger } from '../../../src/sources/apply-desired.ts';

interface Traits {
  readonly name?: string;
  readonly image?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly phase?: string;
}

function pod(uid: string, traits: Traits = {}): Pod {
  const { name = uid, image = 'web:1', labels = {}, annotations = {}, phase, ...metadata } = traits;
  return {
    metadata: { uid: uid as PodUid, name, namespace: 'default', labels, annotations, ...metadata },
    spec: { containers: [{ name: 'c', image }] },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

function set(source: SourceName, ...pods: readonly Pod[]): Desired {
  return { source, pods, problems: [] };
}

/** Takes in the sets, each a second after the other, and tells what the last one changed. */
function after(...sets: readonly Desired[]): Ledger {
  return sets.reduce((ledger, desired, index) => applyDesired(ledger, desired, index * 1_000), EMPTY_LEDGER);
}

function told({ changes }: Ledger): readonly string[] {
  return changes.map(({ op, source, pod: { metadata } }) => `${op} ${source} ${metadata.uid}`);
}

function messages({ problems }: Ledger): readonly string[] {
  return [...problems.values()].flat().map(({ message }) => message);
}

describe('applyDesired', () => {
  const old = pod('p', { labels: { a: '1' }, annotations: { n: '1' }, phase: 'Pending' });
  const gone = '2026-01-01T00:00:00Z';

  it.each<[rule: string, pods: readonly Pod[], changes: readonly string[]]>([
    [
      'tells nothing of a set that is as the one before',
      [pod('p', { labels: { a: '1' }, annotations: { n: '1' }, phase: 'Pending' })],
      [],
    ],
    ['tells another spec as an update', [{ ...old, spec: { ...old.spec, hostNetwork: true } }], ['update file p']],
    [
      'tells another label as an update',
      [{ ...old, metadata: { ...old.metadata, labels: { a: '2' } } }],
      ['update file p'],
    ],
    [
      'tells another annotation as an update',
      [{ ...old, metadata: { ...old.metadata, annotations: { n: '2' } } }],
      ['update file p'],
    ],
    [
      'tells a time of deletion as a deletion',
      [{ ...old, metadata: { ...old.metadata, deletionTimestamp: gone } }],
      ['delete file p'],
    ],
    [
      'tells another grace of deletion as an update while there is no time of deletion',
      [{ ...old, metadata: { ...old.metadata, deletionGracePeriodSeconds: 5 } }],
      ['update file p'],
    ],
    [
      'tells another status alone as a matter of the status',
      [{ ...old, status: { phase: 'Running' } }],
      ['reconcile file p'],
    ],
    ['tells a pod that is missing from the set as removed', [], ['remove file p']],
    ['tells another pod in the place of one as a removal and an addition', [pod('q')], ['remove file p', 'add file q']],
    [
      'tells another UID under the same name as a removal and an addition',
      [pod('q', { name: 'p' })],
      ['remove file p', 'add file q'],
    ],
    [
      'tells nothing where only those annotations differ that are of this node',
      [
        pod('p', {
          labels: { a: '1' },
          annotations: {
            n: '1',
            'kubernetes.io/config.source': 'api',
            'kubernetes.io/config.seen': 'some day',
            'kubernetes.io/config.mirror': 'p',
          },
          phase: 'Pending',
        }),
      ],
      [],
    ],
  ])('%s', (_rule, pods, changes) => {
    expect(told(after(set('file', old), set('file', ...pods)))).toEqual(changes);
  });

  it('tells removals first, then additions, updates, deletions and status', () => {
    const first = [pod('stays'), pod('status'), pod('deleted'), pod('updated'), pod('removed')];
    const second = [
      pod('status', { phase: 'Running' }),
      pod('deleted', { deletionTimestamp: gone }),
      pod('updated', { image: 'web:2' }),
      pod('added'),
      pod('stays'),
    ];
    expect(told(after(set('api', ...first), set('api', ...second)))).toEqual([
      'remove api removed',
      'add api added',
      'update api updated',
      'delete api deleted',
      'reconcile api status',
    ]);
  });

  it('tells a pod with a UID that the source did not have as added', () => {
    expect(told(after(set('file', pod('p')), set('file', pod('p'), pod('q'))))).toEqual(['add file q']);
    expect(told(after(set('file', pod('p')), set('file'), set('file', pod('p'))))).toEqual(['add file p']);
  });

  it('adds a pod that is to be deleted already when it is first seen', () => {
    expect(told(after(set('api', pod('p', { deletionTimestamp: gone }))))).toEqual(['add api p']);
  });

  it('leaves the pods of other sources alone', () => {
    const ledger = after(set('file', pod('p')), set('api', pod('q')), set('file'));
    expect(told(ledger)).toEqual(['remove file p']);
    expect([...(ledger.accepted.get('api')?.keys() ?? [])]).toEqual(['q']);
  });

  it('writes on every pod where it is from and when it was first seen, and keeps that over updates', () => {
    const annotationsOf = (ledger: Ledger) => ledger.changes.map((change) => change.pod.metadata.annotations);
    const first = set('file', pod('p', { annotations: { n: '1', 'kubernetes.io/config.seen': 'never' } }));
    const second = set('file', pod('p', { annotations: { n: '2' } }));
    const nothing = set('api');

    expect(annotationsOf(after(nothing, first))).toEqual([
      { n: '1', 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': '1970-01-01T00:00:01Z' },
    ]);
    expect(annotationsOf(after(nothing, first, second))).toEqual([
      { n: '2', 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.seen': '1970-01-01T00:00:01Z' },
    ]);
  });

  it('leaves out the second of two pods of one name in one set, and says so', () => {
    const ledger = after(set('file', pod('p', { name: 'web' }), pod('q', { name: 'web' })));
    expect(told(ledger)).toEqual(['add file p']);
    expect(messages(ledger)).toEqual([
      'the pod default/web is left out: another pod of this source already has this name and namespace',
    ]);
  });

  it('keeps the one that runs when a second of its name comes, wherever it stands in the set', () => {
    const ledger = after(
      set('file', pod('p', { name: 'web' })),
      set('file', pod('q', { name: 'web' }), pod('p', { name: 'web' })),
    );
    expect(told(ledger)).toEqual([]);
    expect([...(ledger.accepted.get('file')?.keys() ?? [])]).toEqual(['p']);
  });

  it('lets the second in when the first goes', () => {
    const p = pod('p', { name: 'web' });
    const q = pod('q', { name: 'web' });
    const ledger = after(set('file', p, q), set('file', q));
    expect(told(ledger)).toEqual(['remove file p', 'add file q']);
    expect(messages(ledger)).toEqual([]);
  });

  it('leaves out a pod whose name another source holds, until that lets go', () => {
    const p = pod('p', { name: 'web' });
    const q = pod('q', { name: 'web' });
    const both = after(set('file', p), set('api', q));
    expect(told(both)).toEqual([]);
    expect(messages(both)).toEqual([
      'the pod default/web is left out: a pod of the file source already has this name and namespace',
    ]);

    const freed = after(set('file', p), set('api', q), set('file'));
    expect(told(freed)).toEqual(['remove file p', 'add api q']);
    expect(messages(freed)).toEqual([]);
  });

  it('leaves out a pod whose UID is taken', () => {
    const ledger = after(
      set('file', pod('p', { name: 'one' }), pod('p', { name: 'two' })),
      set('api', pod('p', { name: 'three' })),
    );
    expect([...(ledger.accepted.get('api')?.keys() ?? [])]).toEqual([]);
    expect(messages(ledger)).toEqual([
      'the pod default/two is left out: another pod of this source already has the UID p',
      'the pod default/three is left out: a pod of the file source already has the UID p',
    ]);
  });

  it('does not take the mirror of a static pod for a second one', () => {
    const mirror = pod('m', { name: 'web', annotations: { 'kubernetes.io/config.mirror': 'p' } });
    expect(told(after(set('file', pod('p', { name: 'web' })), set('api', mirror)))).toEqual(['add api m']);
  });

  it('keeps the problems of each set until the next one of its source', () => {
    const problem = { source: 'file' as const, origin: '/etc/pods/a.yaml', message: 'no image' };
    const bad: Desired = { source: 'file', pods: [], problems: [problem] };
    expect(messages(after(bad, set('api')))).toEqual(['no image']);
    expect(messages(after(bad, set('api'), set('file')))).toEqual([]);
  });
});
