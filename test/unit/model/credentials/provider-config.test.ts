import { describe, expect, it } from 'vitest';
import { cacheKey, readProviderAnswer } from '../../../../src/model/credentials/provider-answer.ts';
import { readProviderConfig } from '../../../../src/model/credentials/provider-config.ts';

const V1 = 'credentialprovider.kubelet.k8s.io/v1';
const PROVIDER = { name: 'ecr', apiVersion: V1, matchImages: ['*.r.io'], defaultCacheDuration: '12h' };
const config = (...providers: readonly object[]): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1',
  kind: 'CredentialProviderConfig',
  providers,
});

describe('readProviderConfig', () => {
  it('a provider has a name, patterns of images, a time for its answers, arguments and variables', () => {
    const full = { ...PROVIDER, args: ['get'], env: [{ name: 'A', value: 'b' }] };
    expect(readProviderConfig(config(full))).toEqual([
      { ...PROVIDER, defaultCacheDuration: 43_200_000, args: ['get'], env: { A: 'b' } },
    ]);
  });

  it.each([
    [{ kind: 'Other' }, 'it must be a CredentialProviderConfig'],
    [config(), 'providers: at least one is needed'],
    [config({ ...PROVIDER, name: '../ecr' }), 'providers[0].name'],
    [config({ ...PROVIDER, name: '..' }), 'providers[0].name'],
    [config({ ...PROVIDER, apiVersion: 'v1' }), 'providers[0].apiVersion'],
    [config({ ...PROVIDER, matchImages: [] }), 'providers[0].matchImages'],
    [config({ ...PROVIDER, defaultCacheDuration: 'soon' }), 'providers[0].defaultCacheDuration'],
    [config({ ...PROVIDER, tokenAttributes: {} }), 'providers[0].tokenAttributes'],
    [{ ...config(PROVIDER), providers: ['ecr'] }, 'providers[0]: it must be an object'],
    [config({ ...PROVIDER, args: ['a', 1] }), 'providers[0].args: it must hold texts'],
    [config({ ...PROVIDER, env: {} }), 'providers[0].env: it must be a list'],
    [config({ ...PROVIDER, env: [{ value: 'x' }] }), 'providers[0].env: each needs a name'],
    [config(PROVIDER, PROVIDER), 'ecr stands there twice'],
  ])('names what is wrong in %j', (document, message) => {
    expect(() => readProviderConfig(document)).toThrow(message);
  });
});

describe('readProviderAnswer', () => {
  const answer = (more: object): string =>
    JSON.stringify({ kind: 'CredentialProviderResponse', apiVersion: V1, cacheKeyType: 'Registry', ...more });

  it('an answer holds credentials by registry, and for how long', () => {
    const auth = { 'r.io': { username: 'me', password: 'secret' } };
    expect(readProviderAnswer(answer({ auth, cacheDuration: '5m' }), V1)).toEqual({
      scope: 'Registry',
      lasts: 300_000,
      auths: new Map([['r.io', { username: 'me', password: 'secret' }]]),
    });
  });

  it('an answer of another version or of an unknown scope is refused', () => {
    expect(() => readProviderAnswer(answer({ apiVersion: 'v9' }), V1)).toThrow(V1);
    expect(() => readProviderAnswer(answer({ cacheKeyType: 'Cluster' }), V1)).toThrow('cacheKeyType');
  });

  it('an answer is kept under its image, its registry or for all', () => {
    const keys = (['Image', 'Registry', 'Global'] as const).map((scope) => cacheKey(scope, 'r.io/app:1'));
    expect(keys).toEqual(['image r.io/app:1', 'registry r.io', 'global']);
  });
});
