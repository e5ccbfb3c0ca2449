import { describe, expect, it } from 'vitest';
import { secretMask } from '../../../../src/cli/recording/mask-secrets.ts';
import { pullSecrets } from '../../../../src/model/credentials/pull-secrets.ts';
import { secretOf } from '../../../../src/model/objects/object-set.ts';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { aConfigMap, aSecret, aSet } from '../../model/objects/a-set.ts';

const STAND_IN = /^masked-[0-9a-f]{12}$/;

function dataOf(set: ReturnType<typeof aSet>, name = 's'): Readonly<Record<string, string>> {
  const { data = {} } = secretOf(set, 'default', name) ?? {};
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

describe('secretMask', () => {
  it('lets stand-ins stand for what Secrets hold, and leaves everything else', () => {
    const mask = secretMask('key');
    const set = aSet(aSecret('s', { a: 'oak-4711', b: 'oak-4711', c: 'elm' }), aConfigMap('c', { a: 'plain' }));
    const masked = mask.learn(set);
    const { a, b, c } = dataOf(masked);
    expect(a).toMatch(STAND_IN);
    expect(b).toBe(a);
    expect(c).not.toBe(a);
    expect([...masked.byKey.values()][1]).toBe([...set.byKey.values()][1]);
    expect(mask.learn(set)).toBe(masked);
  });

  it('finds them wherever they turn up, the longest first', () => {
    const mask = secretMask('key');
    const {
      a = '',
      b = '',
      c = '',
    } = dataOf(mask.learn(aSet(aSecret('s', { a: 'oak-4711', b: 'oak-4711-long', c: 'elm.*\n' }))));
    expect(mask.text('db://oak-4711@host')).toBe(`db://${a}@host`);
    expect(mask.text('db://oak-4711-long@host')).toBe(`db://${b}@host`);
    expect(mask.text('elm.*\n')).toBe(c);
    expect(mask.text('said elm.* aloud')).toMatch(/^said masked-[0-9a-f]{12} aloud$/);
    expect(mask.text('elmXX')).toBe('elmXX');
    expect(mask.text(Buffer.from('oak-4711').toString('base64'))).toMatch(STAND_IN);
    expect(mask.bytes(Buffer.from('oak-4711'))).toBe(a);
    expect(mask.bytes(Buffer.from('other'))).toBeUndefined();
  });

  it('hides a short one where it stands alone, and lets texts that happen to hold it be', () => {
    const mask = secretMask('key');
    mask.learn(aSet(aSecret('s', { pin: '42' })));
    expect(mask.text('42')).toMatch(STAND_IN);
    expect(mask.text('4242')).toBe('4242');
  });

  it('hides bytes that are no text', () => {
    const mask = secretMask('key');
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x01]);
    const secret = { ...aSecret('s', {}), data: { key: bytes.toString('base64') } };
    const { key = '' } = dataOf(mask.learn(aSet(secret)));
    expect(key).toMatch(STAND_IN);
    expect(mask.bytes(bytes)).toBe(key);
    expect(mask.text(`a ${bytes.toString('base64')}`)).toBe(`a ${key}`);
  });

  it('keeps what was secret once hidden when it has changed or gone', () => {
    const mask = secretMask('key');
    mask.learn(aSet(aSecret('s', { a: 'oak-4711' })));
    mask.learn(aSet());
    expect(mask.text('it was oak-4711')).not.toContain('oak');
  });

  it('gives others under another key, so that nobody can guess a secret from its stand-in', () => {
    const set = aSet(aSecret('s', { a: 'oak-4711' }));
    expect(dataOf(secretMask('one').learn(set))).not.toEqual(dataOf(secretMask('other').learn(set)));
  });

  it('leaves the logins of registries readable: who it is for, but not who it is', () => {
    const mask = secretMask('key');
    const auth = Buffer.from('ash-user:ash-4711').toString('base64');
    const config = JSON.stringify({
      auths: { 'registry.local': { auth }, other: { username: 'u5er', password: 'p4ss' } },
    });
    const masked = mask.learn(aSet(aSecret('pull', { '.dockerconfigjson': config })));
    const pod: Pod = {
      metadata: { uid: 'u' as PodUid, name: 'p', namespace: 'default', labels: {}, annotations: {} },
      spec: { containers: [], imagePullSecrets: [{ name: 'pull' }] },
    };
    const [auths] = pullSecrets(pod, masked).auths;
    expect([...(auths ?? [])]).toEqual([
      ['registry.local', { username: mask.text('ash-user'), password: mask.text('ash-4711') }],
      ['other', { username: mask.text('u5er'), password: mask.text('p4ss') }],
    ]);
    expect(mask.text('ash-4711')).toMatch(STAND_IN);
    expect(mask.text(auth)).toMatch(STAND_IN);
  });

  it('lets a digest of secrets be that of their stand-ins', () => {
    const mask = secretMask('key');
    mask.replace('0a1b2c3d', 'ffffffff');
    expect(mask.text('0a1b2c3d')).toBe('ffffffff');
  });
});
