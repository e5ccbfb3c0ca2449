import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { fnv128 } from '../../../../src/model/manifest/fnv128.ts';
import { settleIdentity, uidOf, type ManifestOrigin } from '../../../../src/model/manifest/settle-identity.ts';
import { aContainer, aPod, FROM_FILE, settle, validate } from './a-pod.ts';

describe('fnv128', () => {
  it('agrees with the definition of FNV-1a', () => {
    const slow = (text: string): string => {
      let hash = 0x6c62272e07bb014262b821756295c58dn;
      for (const byte of new TextEncoder().encode(text))
        hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * (2n ** 88n + 0x13bn));
      return hash.toString(16).padStart(32, '0');
    };
    for (const text of ['', 'a', 'foobar', 'grün 😀', 'x'.repeat(1000)]) expect(fnv128(text)).toBe(slow(text));
  });
});

describe('uidOf', () => {
  // Frozen: were one of these to change, every static pod on every node would start again with that version of rxlet.
  it.each([
    ['a small pod', aPod(), '2ec92a0d5d5f74a13caa21fb62e782fd'],
    [
      'a pod with labels and text beyond ASCII',
      aPod({}, { labels: { b: 'ü', a: '1' } }),
      'db20e768f7cdd235efc63fa0a821d6fd',
    ],
    [
      'a pod with numbers and lists',
      aPod({
        terminationGracePeriodSeconds: 5,
        containers: [aContainer({ command: ['sleep', '1'] })],
      }),
      'e23f904c7308d2ad6365e97670183af3',
    ],
  ])('#11: gives %s the same UID for ever', (_what, pod, frozen) => {
    expect(uidOf(pod, FROM_FILE)).toBe(frozen);
  });

  it('#11: does not care about the order of keys, a status, or what kind of list the pod stood in', () => {
    const { metadata = {}, spec = {} } = aPod({ hostNetwork: true, restartPolicy: 'Never' });
    const turned: PodDraft = {
      status: { phase: 'Failed' },
      spec: { restartPolicy: 'Never', hostNetwork: true, ...spec },
      metadata,
    };
    expect(uidOf(turned, FROM_FILE)).toBe(uidOf(aPod({ hostNetwork: true, restartPolicy: 'Never' }), FROM_FILE));
  });

  it.each([
    ['a label', uidOf(aPod({}, { labels: { a: '1' } }), FROM_FILE)],
    ['a field of the spec', uidOf(aPod({ hostNetwork: true }), FROM_FILE)],
    ['a default written out', uidOf(aPod({ restartPolicy: 'Always' }), FROM_FILE)],
    ['another file', uidOf(aPod(), { ...FROM_FILE, origin: '/etc/rxlet/copy.yaml' })],
    ['another node', uidOf(aPod(), { ...FROM_FILE, nodeName: 'node-2' })],
    ['another source', uidOf(aPod(), { ...FROM_FILE, source: 'http' })],
  ])('#17: gives another UID for %s', (_what, uid) => {
    expect(uid).toMatch(/^[\da-f]{32}$/);
    expect(uid).not.toBe(uidOf(aPod(), FROM_FILE));
  });

  it("takes the manifest's own UID as it is", () => {
    expect(uidOf(aPod({}, { uid: 'my-own-uid' }), FROM_FILE)).toBe('my-own-uid');
  });

  it('takes an empty UID for none', () => {
    expect(uidOf(aPod({}, { uid: '' }), FROM_FILE)).toMatch(/^[\da-f]{32}$/);
  });
});

describe('settleIdentity', () => {
  it('makes the pod of a file this node’s own', () => {
    const pod = settle(aPod({}, { annotations: { note: 'x' } }));
    const uid = uidOf(aPod({}, { annotations: { note: 'x' } }), FROM_FILE);
    expect(pod.metadata).toEqual({
      name: 'web-node-1',
      namespace: 'default',
      uid,
      labels: {},
      annotations: { note: 'x', 'kubernetes.io/config.hash': uid, 'kubernetes.io/config.source': 'file' },
    });
    expect(pod.spec?.nodeName).toBe('Node-1');
  });

  const FROM_HTTP = { origin: 'http://m/pods', source: 'http', nodeName: 'Node-1' } as const;
  const settledFrom = (from: ManifestOrigin, pod: PodDraft): PodDraft => settleIdentity(pod, 'uid-1', from);
  const HASH = 'kubernetes.io/config.hash';
  const SOURCE = 'kubernetes.io/config.source';

  it.each<[rule: string, settled: PodDraft, told: (pod: PodDraft) => unknown, expected: unknown]>([
    [
      'ends the name of a pod in that of the node, in lower case',
      settledFrom(FROM_FILE, aPod()),
      ({ metadata }) => metadata?.name,
      'web-node-1',
    ],
    [
      'puts a pod into the namespace default where none is given',
      settledFrom(FROM_FILE, aPod()),
      ({ metadata }) => metadata?.namespace,
      'default',
    ],
    [
      'puts a pod into the namespace default where an empty one is given',
      settledFrom(FROM_FILE, aPod({}, { namespace: '' })),
      ({ metadata }) => metadata?.namespace,
      'default',
    ],
    [
      'leaves the namespace that is given',
      settledFrom(FROM_FILE, aPod({}, { namespace: 'team' })),
      ({ metadata }) => metadata?.namespace,
      'team',
    ],
    [
      'puts a pod on this node, whatever node the manifest names',
      settledFrom(FROM_FILE, aPod({ nodeName: 'elsewhere' })),
      ({ spec }) => spec?.nodeName,
      'Node-1',
    ],
    [
      'writes its UID on every pod as config.hash, over what the manifest says',
      settledFrom(FROM_FILE, aPod({}, { annotations: { [HASH]: 'forged' } })),
      ({ metadata }) => metadata?.annotations?.[HASH],
      'uid-1',
    ],
    [
      'writes on a pod of a file that it is from a file',
      settledFrom(FROM_FILE, aPod({}, { annotations: { [SOURCE]: 'api' } })),
      ({ metadata }) => metadata?.annotations?.[SOURCE],
      'file',
    ],
    [
      'writes on a pod of a URL that it is from http',
      settledFrom(FROM_HTTP, aPod()),
      ({ metadata }) => metadata?.annotations?.[SOURCE],
      'http',
    ],
    [
      'lets a pod of a file tolerate every NoExecute taint, beside what it tolerates itself',
      settledFrom(FROM_FILE, aPod({ tolerations: [{ key: 'a', operator: 'Exists' }] })),
      ({ spec }) => spec?.tolerations,
      [
        { key: 'a', operator: 'Exists' },
        { operator: 'Exists', effect: 'NoExecute' },
      ],
    ],
    [
      'adds no toleration to a pod of a URL',
      settledFrom(FROM_HTTP, aPod({ tolerations: [{ key: 'a', operator: 'Exists' }] })),
      ({ spec }) => spec?.tolerations,
      [{ key: 'a', operator: 'Exists' }],
    ],
    [
      'takes no status from a manifest',
      settledFrom(FROM_FILE, { ...aPod(), status: { phase: 'Succeeded' } }),
      ({ status }) => status,
      undefined,
    ],
    [
      'leaves labels and other annotations as they are',
      settledFrom(FROM_FILE, aPod({}, { labels: { a: '1' }, annotations: { note: 'x' } })),
      ({ metadata }) => [metadata?.labels, metadata?.annotations?.['note']],
      [{ a: '1' }, 'x'],
    ],
  ])('%s', (_rule, settled, told, expected) => {
    expect(told(settled)).toEqual(expected);
  });

  it.each(['a/b', 'a_b', '..', '.hidden', 'a b', `a${'b'.repeat(253)}`])(
    'has the UID %j refused, as it names directories',
    (uid) => {
      const problems = validate(aPod({ nodeName: 'x' }, { uid })).filter((text) => text.startsWith('metadata.uid'));
      expect(problems).toHaveLength(1);
    },
  );
});
