import { describe, expect, it } from 'vitest';
import { containerHash } from '../../../src/model/container-hash.ts';

describe('containerHash', () => {
  it.each([
    ['test_container', 'foo/image:v1', '8e45cbd0'],
    ['c', 'busybox', 'ad819b5c'],
    ['web', 'registry.k8s.io/pause:3.10', '4f3b3ba7'],
    ['only', 'busybox:1.35', '9b3f600a'],
    ['alpha', 'busybox:1.36', '80f96b5b'],
  ])('of %s with %s is the one of the kubelet, %s', (name, image, hash) => {
    expect(containerHash(name, image)).toBe(hash);
  });

  it.each([
    ['is written in lower case without leading zeros', 'c19', 'busybox:1.36', 'd23c6a'],
    ['takes <, > and & as Go writes them in JSON', 'c', 'a<b>', '7897c1b'],
    ['takes & as Go writes it in JSON', 'c', 'a&b', '184e89f'],
  ])('%s', (_rule, name, image, hash) => {
    expect(containerHash(name, image)).toBe(hash);
  });

  it('tells names and images apart', () => {
    const hashes = [containerHash('a', 'b'), containerHash('b', 'a'), containerHash('', 'ab'), containerHash('a', '')];
    expect(new Set(hashes).size).toBe(4);
  });
});
