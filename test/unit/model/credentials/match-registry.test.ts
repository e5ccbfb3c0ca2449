import { describe, expect, it } from 'vitest';
import { findAuths, readDockerConfig } from '../../../../src/model/credentials/docker-config.ts';
import { matchesRegistry, registryKey } from '../../../../src/model/credentials/match-registry.ts';

describe('matchesRegistry', () => {
  it.each<{ rule: string; yes?: readonly (readonly [string, string])[]; no?: readonly (readonly [string, string])[] }>([
    { rule: 'a registry speaks of all of its images', yes: [['registry.io', 'registry.io/app:1']] },
    {
      rule: 'a path speaks of what is below it, part by part',
      yes: [
        ['registry.io/team', 'registry.io/team/app:1'],
        ['registry.io/team/app', 'registry.io/team/app@sha256:1'],
      ],
      no: [['registry.io/team', 'registry.io/teammates/app:1']],
    },
    {
      rule: 'a port speaks of that port only',
      yes: [['registry.io:5000', 'registry.io:5000/app']],
      no: [['registry.io', 'registry.io:5000/app']],
    },
    {
      rule: 'a wildcard stands for one part of the host, or for some of it',
      yes: [
        ['*.registry.io', 'eu.registry.io/app'],
        ['*.*.registry.io', 'a.eu.registry.io/app'],
        ['e?.registry.io', 'eu.registry.io/app'],
        ['prefix-*.registry.io', 'prefix-eu.registry.io/app'],
      ],
      no: [
        ['*.registry.io', 'a.eu.registry.io/app'],
        ['*.registry.io', 'registry.io/app'],
      ],
    },
    { rule: 'a dot stands for nothing but itself', no: [['registry.io', 'registryxio/app']] },
  ])('$rule', ({ yes = [], no = [] }) => {
    const spoken = (pairs: typeof yes): readonly boolean[] =>
      pairs.map(([pattern, image]) => matchesRegistry(pattern, image));
    expect([spoken(yes), spoken(no)]).toEqual([yes.map(() => true), no.map(() => false)]);
  });
});

describe('registryKey', () => {
  it.each([
    ["an entry may have docker's own path", 'https://index.docker.io/v1/', 'index.docker.io'],
    ['an entry may have a scheme', 'http://registry.io', 'registry.io'],
    ['an entry may end in a slash', 'registry.io/', 'registry.io'],
    ["an entry may have a path behind docker's own", 'https://registry.io/v2/team', 'registry.io/team'],
    ['an entry may have a path', 'registry.io/team', 'registry.io/team'],
  ])('%s', (_rule, entry, key) => {
    expect(registryKey(entry)).toBe(key);
  });
});

describe('readDockerConfig', () => {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');

  it('an entry holds user and password, together or apart, or a token', () => {
    const auths = {
      a: { auth: encoded('me:it:is') },
      b: { username: 'me', password: 'secret' },
      c: { identitytoken: 'token' },
      d: {},
      e: 'nonsense',
    };
    expect([...readDockerConfig(JSON.stringify({ auths }))]).toEqual([
      ['a', { username: 'me', password: 'it:is' }],
      ['b', { username: 'me', password: 'secret' }],
      ['c', { identityToken: 'token' }],
    ]);
  });

  it('the older form has its entries without auths', () => {
    expect([...readDockerConfig('{"a":{"username":"me"}}').keys()]).toEqual(['a']);
    expect([...readDockerConfig('{"auths":{},"credsStore":"x"}').keys()]).toEqual([]);
  });

  it('the entry that says the most is tried first; images without a registry are of docker hub', () => {
    const auths = readDockerConfig(
      JSON.stringify({
        auths: {
          'r.io': { username: 'all' },
          'r.io/team': { username: 'team' },
          'https://index.docker.io/v1/': { username: 'hub' },
        },
      }),
    );
    const users = (image: string): readonly unknown[] => findAuths(auths, image).map(({ username }) => username);
    expect(users('r.io/team/app:1')).toEqual(['team', 'all']);
    expect(users('r.io/app:1')).toEqual(['all']);
    expect(users('busybox')).toEqual(['hub']);
    expect(users('docker.io/library/busybox:1')).toEqual(['hub']);
    expect(users('other.io/app')).toEqual([]);
  });

  it('a file that is no JSON is refused', () => {
    expect(() => readDockerConfig('[')).toThrow();
    expect(() => readDockerConfig('[]')).toThrow('it holds no object');
  });
});
