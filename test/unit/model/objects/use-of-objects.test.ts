import { describe, expect, it } from 'vitest';
import { authsFor, describePullSecrets, pullSecrets } from '../../../../src/model/credentials/pull-secrets.ts';
import { configHash } from '../../../../src/model/env/config-hash.ts';
import { RESTART_ON_CONFIG_CHANGE } from '../../../../src/model/rxlet-annotations.ts';
import { allValues, keyValue } from '../../../../src/model/env/object-variables.ts';
import { changedKeys, NO_OBJECTS } from '../../../../src/model/objects/object-set.ts';
import { referencesOf } from '../../../../src/model/objects/references.ts';
import { volumePayload } from '../../../../src/model/volumes/volume-payload.ts';
import type { Volume } from '../../../../src/model/volumes/volume-dir.ts';
import { pod } from '../../../marbles/fakes.ts';
import { aConfigMap, aSecret, aSet } from './a-set.ts';

const OBJECTS = aSet(
  aConfigMap('web', { color: 'red', size: '1' }, { raw: 'AP8=' }),
  aSecret('login', { user: 'ann', password: 'hunter2' }),
);

describe('keyValue', () => {
  const config = (key: string, name = 'web', optional?: boolean) =>
    keyValue({ configMapKeyRef: { name, key, ...(optional !== undefined && { optional }) } }, 'default', OBJECTS);
  const secret = (key: string, name = 'login', optional?: boolean) =>
    keyValue({ secretKeyRef: { name, key, ...(optional !== undefined && { optional }) } }, 'default', OBJECTS);

  it('is what the object says', () => {
    expect(config('color')).toEqual({ kind: 'value', value: 'red' });
    expect(secret('password')).toEqual({ kind: 'value', value: 'hunter2' });
  });

  it('names what is missing in the words of the kubelet', () => {
    expect(config('a', 'none')).toEqual({ kind: 'problem', message: 'configmap "none" not found' });
    expect(secret('a', 'none')).toEqual({ kind: 'problem', message: 'secret "none" not found' });
    expect(config('none')).toEqual({ kind: 'problem', message: "couldn't find key none in ConfigMap default/web" });
    expect(secret('none')).toEqual({ kind: 'problem', message: "couldn't find key none in Secret default/login" });
  });

  it('leaves out what is optional and missing', () => {
    expect(config('a', 'none', true)).toEqual({ kind: 'absent' });
    expect(secret('none', 'login', true)).toEqual({ kind: 'absent' });
  });

  it('looks in the namespace of the pod only', () => {
    expect(keyValue({ configMapKeyRef: { name: 'web', key: 'color' } }, 'other', OBJECTS)?.kind).toBe('problem');
  });

  it('says nothing of other sources', () => {
    expect(keyValue({ fieldRef: { fieldPath: 'metadata.name' } }, 'default', OBJECTS)).toBeUndefined();
  });
});

describe('allValues', () => {
  it('takes every text with its prefix, and no binary data', () => {
    expect(allValues({ prefix: 'P_', configMapRef: { name: 'web' } }, 'default', OBJECTS)).toEqual({
      kind: 'value',
      value: [
        ['P_color', 'red'],
        ['P_size', '1'],
      ],
    });
  });

  it('is a problem where it is missing, unless it may be', () => {
    expect(allValues({ secretRef: { name: 'none' } }, 'default', OBJECTS)).toEqual({
      kind: 'problem',
      message: 'secret "none" not found',
    });
    expect(allValues({ secretRef: { name: 'none', optional: true } }, 'default', OBJECTS)).toEqual({ kind: 'absent' });
  });
});

describe('volumePayload, of objects', () => {
  const told = (volume: Omit<Volume, 'name'>): unknown => {
    const payload = volumePayload(pod(), { name: 'v', ...volume }, {}, OBJECTS);
    if (payload.kind === 'problem') return payload.message;
    return Object.fromEntries(
      [...payload.files].map(([path, { content, mode }]) => [
        path,
        `${mode.toString(8)} ${Buffer.from(content).toString('latin1')}`,
      ]),
    );
  };

  it('makes one file per key, binary ones to the byte', () => {
    expect(told({ configMap: { name: 'web', defaultMode: 0o640 } })).toEqual({
      color: '640 red',
      size: '640 1',
      raw: '640 \0\xff',
    });
    expect(told({ secret: { secretName: 'login', defaultMode: 0o400 } })).toEqual({
      user: '400 ann',
      password: '400 hunter2',
    });
  });

  it('makes the files of items only, under their paths and with their modes', () => {
    const items = [
      { key: 'color', path: 'a/b' },
      { key: 'size', path: 'c', mode: 0o600 },
    ];
    expect(told({ configMap: { name: 'web', items } })).toEqual({ 'a/b': '644 red', c: '600 1' });
  });

  it('puts sources together in one projected volume', () => {
    const sources = [
      { configMap: { name: 'web', items: [{ key: 'color', path: 'x' }] } },
      { secret: { name: 'login', items: [{ key: 'user', path: 'x' }] } },
      { configMap: { name: 'none', optional: true } },
      { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ];
    expect(told({ projected: { sources, defaultMode: 0o444 } })).toEqual({ x: '444 ann', name: '444 web' });
  });

  it('names what is missing in the words of the kubelet', () => {
    const items = [{ key: 'none', path: 'x' }];
    expect(told({ configMap: { name: 'none' } })).toBe('configmap "none" not found');
    expect(told({ secret: { secretName: 'none' } })).toBe('secret "none" not found');
    expect(told({ configMap: { name: 'web', items } })).toBe('configmap references non-existent config key: none');
    expect(told({ secret: { secretName: 'login', items } })).toBe('references non-existent secret key: none');
  });

  it('leaves out what is optional and missing', () => {
    expect(told({ configMap: { name: 'none', optional: true } })).toEqual({});
    expect(told({ secret: { secretName: 'login', optional: true, items: [{ key: 'none', path: 'x' }] } })).toEqual({});
  });
});

describe('referencesOf', () => {
  it('finds what variables, volumes and pulls refer to', () => {
    const of = pod({
      spec: {
        containers: [
          {
            name: 'main',
            env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's1', key: 'k' } } }],
            envFrom: [{ configMapRef: { name: 'c1' } }],
          },
        ],
        volumes: [
          { name: 'a', configMap: { name: 'c2' } },
          { name: 'b', projected: { sources: [{ secret: { name: 's2' } }] } },
          { name: 'c', persistentVolumeClaim: { claimName: 'p' } },
        ],
        imagePullSecrets: [{ name: 's3' }],
      },
    });
    expect([...referencesOf(of)].toSorted()).toEqual([
      'ConfigMap/default/c1',
      'ConfigMap/default/c2',
      'PersistentVolumeClaim/default/p',
      'Secret/default/s1',
      'Secret/default/s2',
      'Secret/default/s3',
    ]);
  });
});

describe('configHash', () => {
  const container = { name: 'main', envFrom: [{ configMapRef: { name: 'web' } }] };
  const asking = pod({ metadata: { ...pod().metadata, annotations: { [RESTART_ON_CONFIG_CHANGE]: 'true' } } });

  it('changes with the data, and only for pods that ask', () => {
    const before = configHash(asking, container, OBJECTS);
    expect(before).toMatch(/^[\da-f]{32}$/);
    expect(configHash(asking, container, aSet(aConfigMap('web', { size: '1', color: 'red' })))).toBe(before);
    expect(configHash(asking, container, aSet(aConfigMap('web', { size: '2' })))).not.toBe(before);
    expect(configHash(pod(), container, OBJECTS)).toBeUndefined();
  });

  it('is unknown where an object is missing: then nothing is to be restarted', () => {
    expect(configHash(asking, container, NO_OBJECTS)).toBeUndefined();
  });
});

describe('pullSecrets', () => {
  const auths = JSON.stringify({ auths: { 'gold.test': { username: 'ann', password: 'hunter2' } } });

  it('pull secrets of the pod serve its images, and those that are missing are named', () => {
    const objects = aSet(aSecret('reg', { '.dockerconfigjson': auths }, 'kubernetes.io/dockerconfigjson'));
    const secrets = pullSecrets(
      pod({ spec: { containers: [], imagePullSecrets: [{ name: 'reg' }, { name: 'gone' }] } }),
      objects,
    );
    expect(authsFor(secrets, 'gold.test/app:1')).toEqual([{ username: 'ann', password: 'hunter2' }]);
    expect(authsFor(secrets, 'other.test/app:1')).toEqual([]);
    expect(secrets.missing).toEqual(['gone']);
    expect(describePullSecrets(secrets)).toBe(' (image pull secrets: reg; image pull secrets that do not exist: gone)');
    expect(describePullSecrets(pullSecrets(pod(), objects))).toBe('');
  });

  it('a pull secret may have the older form', () => {
    const old = JSON.stringify({ 'gold.test': { auth: Buffer.from('ann:x').toString('base64') } });
    const objects = aSet(aSecret('reg', { '.dockercfg': old }, 'kubernetes.io/dockercfg'));
    const secrets = pullSecrets(pod({ spec: { containers: [], imagePullSecrets: [{ name: 'reg' }] } }), objects);
    expect(authsFor(secrets, 'gold.test/app:1')).toEqual([{ username: 'ann', password: 'x' }]);
  });
});

describe('changedKeys', () => {
  it('tells what came, went and changed', () => {
    const kept = aConfigMap('kept', {});
    const before = aSet(kept, aConfigMap('a', { x: '1' }), aConfigMap('gone', {}));
    const after = aSet(kept, aConfigMap('a', { x: '2' }), aConfigMap('new', {}));
    expect([...changedKeys(before, after)].toSorted()).toEqual([
      'ConfigMap/default/a',
      'ConfigMap/default/gone',
      'ConfigMap/default/new',
    ]);
  });
});
