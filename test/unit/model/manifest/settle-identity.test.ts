import { describe, expect, it } from 'vitest';
import type { PodDraft } from '../../../../src/model/manifest/draft.ts';
import { fnv128 } from '../../../../src/model/manifest/fnv128.ts';
import { uidOf } from '../../../../src/model/manifest/settle-identity.ts';
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
});

describe('settleIdentity', () => {
  it('makes the pod of a file this node’s own', () => {
    const pod = settle(aPod({ tolerations: [{ key: 'a', operator: 'Exists' }] }, { annotations: { note: 'x' } }));
    const uid = uidOf(
      aPod({ tolerations: [{ key: 'a', operator: 'Exists' }] }, { annotations: { note: 'x' } }),
      FROM_FILE,
    );
    expect(pod.metadata).toEqual({
      name: 'web-node-1',
      namespace: 'default',
      uid,
      labels: {},
      annotations: { note: 'x', 'kubernetes.io/config.hash': uid, 'kubernetes.io/config.source': 'file' },
    });
    expect(pod.spec?.nodeName).toBe('Node-1');
    expect(pod.spec?.tolerations).toEqual([
      { key: 'a', operator: 'Exists' },
      { operator: 'Exists', effect: 'NoExecute' },
    ]);
  });

  it.each(['a/b', 'a_b', '..', '.hidden', 'a b', `a${'b'.repeat(253)}`])(
    'has the UID %j refused, as it names directories',
    (uid) => {
      const problems = validate(aPod({ nodeName: 'x' }, { uid })).filter((text) => text.startsWith('metadata.uid'));
      expect(problems).toHaveLength(1);
    },
  );
});
