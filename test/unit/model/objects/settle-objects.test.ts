import { describe, expect, it } from 'vitest';
import { decodeManifest } from '../../../../src/sources/manifest/decode-manifest.ts';

/** `field: message` of all that is wrong with an object. */
function problemsOf(object: Readonly<Record<string, unknown>>): readonly string[] {
  const text = JSON.stringify({ apiVersion: 'v1', metadata: { name: 'o' }, ...object });
  const { problems } = decodeManifest(text, { origin: '/m/x.json', source: 'file', nodeName: 'n1' });
  return problems.map(({ field = '', message }) => `${field}: ${message}`);
}

const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

describe('a claim', () => {
  it.each<[rule: string, spec: Readonly<Record<string, unknown>>, problems: readonly string[]]>([
    ['is well with a mode and a size', CLAIM, []],
    ['has a mode of access', { ...CLAIM, accessModes: [] }, ['spec.accessModes: is required']],
    [
      'has no other mode beside ReadWriteOncePod',
      { ...CLAIM, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] },
      ['spec.accessModes: must not have other modes beside ReadWriteOncePod'],
    ],
    [
      'has a size above 0',
      { ...CLAIM, resources: { requests: { storage: '0' } } },
      ['spec.resources.requests.storage: must be more than 0'],
    ],
    ...['volumeName', 'volumeAttributesClassName'].map(
      (field): [string, Readonly<Record<string, unknown>>, readonly string[]] => [
        `asks for nothing in particular by ${field}`,
        { ...CLAIM, [field]: 'x' },
        [`spec.${field}: rxlet does not support this field: a claim is a new folder`],
      ],
    ),
  ])('%s', (_rule, spec, problems) => {
    expect(problemsOf({ kind: 'PersistentVolumeClaim', spec })).toEqual(problems);
  });
});

describe('a Secret', () => {
  it.each<[rule: string, type: string, keys: readonly string[], problems: readonly string[]]>([
    ['for TLS has a certificate and a key', 'kubernetes.io/tls', ['tls.crt', 'tls.key'], []],
    [
      'for TLS has both of them',
      'kubernetes.io/tls',
      ['tls.crt'],
      ['data[tls.key]: is required in a Secret of type kubernetes.io/tls'],
    ],
    ['for a user has a name or a password', 'kubernetes.io/basic-auth', ['password'], []],
    [
      'for a user has one of them at least',
      'kubernetes.io/basic-auth',
      ['other'],
      ['data: must have username or password in a Secret of type kubernetes.io/basic-auth'],
    ],
    [
      'for SSH has a key',
      'kubernetes.io/ssh-auth',
      [],
      ['data[ssh-privatekey]: is required in a Secret of type kubernetes.io/ssh-auth'],
    ],
    [
      'for registries has a configuration',
      'kubernetes.io/dockercfg',
      [],
      ['data[.dockercfg]: is required in a Secret of type kubernetes.io/dockercfg'],
    ],
    ['of another type has any keys', 'example.com/mine', [], []],
  ])('%s', (_rule, type, keys, problems) => {
    const data = Object.fromEntries(keys.map((key) => [key, 'YQ==']));
    expect(problemsOf({ kind: 'Secret', type, data })).toEqual(problems);
  });
});
