import { describe, expect, it } from 'vitest';
import { imageNameProblem } from '../../../../src/model/images/image-name.ts';
import { parallelPulls } from '../../../../src/model/images/parallel-pulls.ts';

describe('imageNameProblem', () => {
  it.each([
    'busybox',
    'busybox:1.35',
    'library/busybox',
    'docker.io/library/busybox:1.35',
    'Gold.Test/upper:1',
    'localhost/app',
    '127.0.0.1:5000/team/app:1',
    '[::1]:5000/app',
    'r.io/a__b/c-d.e:TAG_1',
    `busybox@sha256:${'a'.repeat(64)}`,
    `busybox:1@sha256:${'a'.repeat(64)}`,
  ])('takes %s', (image) => {
    expect(imageNameProblem(image)).toBeUndefined();
  });

  it.each([
    ['Gold.Test/UPPER:1', 'invalid reference format: repository name (UPPER) must be lowercase'],
    ['r.io/Team/app', 'invalid reference format: repository name (Team/app) must be lowercase'],
    ['busybox:', 'invalid reference format'],
    ['a b', 'invalid reference format'],
    ['-a', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    ['r.io/', 'invalid reference format'],
    ['busybox@sha256:1', 'invalid reference format'],
    ['', 'repository name must have at least one component'],
    ['a'.repeat(256), 'repository name must not be more than 255 characters'],
    ['f'.repeat(64), `invalid repository name (${'f'.repeat(64)}), cannot specify 64-byte hexadecimal strings`],
  ])('does not take %s', (image, problem) => {
    expect(imageNameProblem(image)).toBe(problem);
  });
});

describe('parallelPulls', () => {
  it.each([
    ['a few where nothing is said', undefined, undefined, 4],
    ['one where pulls are serialized', true, undefined, 1],
    ['as many as come where they are not', false, undefined, Infinity],
    ['as many as allowed', false, 3, 3],
  ])('are %s', (_rule, serializeImagePulls, maxParallelImagePulls, expected) => {
    expect(parallelPulls({ serializeImagePulls, maxParallelImagePulls })).toBe(expected);
  });
});
