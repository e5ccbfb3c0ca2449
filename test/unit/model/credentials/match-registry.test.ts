import { describe, expect, it } from 'vitest';
import { findAuths, readDockerConfig } from '../../../../src/model/credentials/docker-config.ts';
import { matchesRegistry, registryKey } from '../../../../src/model/credentials/match-registry.ts';

describe('matchesRegistry', () => {
  it.each([
    ['registry.io', 'registry.io/app:1', true],
    ['registry.io/team', 'registry.io/team/app:1', true],
    ['registry.io/team', 'registry.io/teammates/app:1', false],
    ['registry.io/team/app', 'registry.io/team/app@sha256:1', true],
    ['registry.io', 'registry.io:5000/app', false],
    ['registry.io:5000', 'registry.io:5000/app', true],
    ['*.registry.io', 'eu.registry.io/app', true],
    ['*.registry.io', 'a.eu.registry.io/app', false],
    ['*.*.registry.io', 'a.eu.registry.io/app', true],
    ['*.registry.io', 'registry.io/app', false],
    ['e?.registry.io', 'eu.registry.io/app', true],
    ['prefix-*.registry.io', 'prefix-eu.registry.io/app', true],
    ['registry.io', 'registryxio/app', false],
  ])('%s speaks of %s: %s', (pattern, image, expected) => {
    expect(matchesRegistry(pattern, image)).toBe(expected);
  });
});

describe('registryKey', () => {
  it.each([
    ['https://index.docker.io/v1/', 'index.docker.io'],
    ['http://registry.io', 'registry.io'],
    ['registry.io/', 'registry.io'],
    ['https://registry.io/v2/team', 'registry.io/team'],
    ['registry.io/team', 'registry.io/team'],
  ])('of %s is %s', (entry, key) => {
    expect(registryKey(entry)).toBe(key);
  });
});

describe('readDockerConfig', () => {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');

  it('reads user and password, together or apart, and tokens', () => {
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

  it('reads the older form without auths', () => {
    expect([...readDockerConfig('{"a":{"username":"me"}}').keys()]).toEqual(['a']);
    expect([...readDockerConfig('{"auths":{},"credsStore":"x"}').keys()]).toEqual([]);
  });

  it('finds the entry that says the most first, and docker hub under its own name', () => {
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

  it('does not take what is no JSON', () => {
    expect(() => readDockerConfig('[')).toThrow();
    expect(() => readDockerConfig('[]')).toThrow('it holds no object');
  });
});
