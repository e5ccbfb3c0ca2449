import { describe, expect, it } from 'vitest';
import { fullReference } from '../../../src/model/images/full-reference.ts';
import { imageStore } from '../../../src/simulation/image-store.ts';

describe('fullReference', () => {
  it.each([
    ['busybox', 'docker.io/library/busybox:latest'],
    ['busybox:1', 'docker.io/library/busybox:1'],
    ['me/app', 'docker.io/me/app:latest'],
    ['registry.k8s.io/pause:3.10', 'registry.k8s.io/pause:3.10'],
    ['localhost/app', 'localhost/app:latest'],
    ['localhost:5000/app', 'localhost:5000/app:latest'],
    ['app@sha256:abc', 'docker.io/library/app@sha256:abc'],
    ['sha256:abc', 'sha256:abc'],
  ])('of %s is %s', (short, full) => {
    expect(fullReference(short)).toBe(full);
  });
});

describe('imageStore', () => {
  it('finds one image under its short name, its full name and its id', () => {
    const store = imageStore({ busybox: { present: true, size: 7 } });
    const image = store.find('busybox');
    expect(image).toMatchObject({ repoTags: ['docker.io/library/busybox:latest'], size: 7 });
    expect(image?.repoDigests).toEqual([`docker.io/library/busybox@${image?.id ?? ''}`]);
    expect(store.find('docker.io/library/busybox:latest')).toBe(image);
    expect(store.find(image?.id ?? '')).toBe(image);
    expect(store.find('alpine')).toBeUndefined();
  });

  it('has what it fetched until it is removed', () => {
    const store = imageStore({});
    const image = store.fetch('registry.k8s.io/pause:3.10');
    expect(store.all()).toEqual([image]);
    store.remove(image.id ?? '');
    store.remove('registry.k8s.io/pause:3.10');
    expect(store.all()).toEqual([]);
  });
});
