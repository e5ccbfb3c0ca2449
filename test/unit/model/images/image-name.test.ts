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
    [
      'a repository has no capital letters',
      'Gold.Test/UPPER:1',
      'invalid reference format: repository name (UPPER) must be lowercase',
    ],
    [
      'no part of a repository has capital letters',
      'r.io/Team/app',
      'invalid reference format: repository name (Team/app) must be lowercase',
    ],
    ['a colon is followed by a tag', 'busybox:', 'invalid reference format'],
    ['a name has no blanks', 'a b', 'invalid reference format'],
    ['a name begins with a letter or a digit', '-a', 'invalid reference format'],
    ['no part of a name is empty', 'a//b', 'invalid reference format'],
    ['a registry alone is no name', 'r.io/', 'invalid reference format'],
    ['a digest is as long as its kind asks', 'busybox@sha256:1', 'invalid reference format'],
    ['no name is no name', '', 'repository name must have at least one component'],
    ['a repository has at most 255 letters', 'a'.repeat(256), 'repository name must not be more than 255 characters'],
    [
      '64 hexadecimal digits are an id and no name',
      'f'.repeat(64),
      `invalid repository name (${'f'.repeat(64)}), cannot specify 64-byte hexadecimal strings`,
    ],
  ])('%s', (_rule, image, problem) => {
    expect(imageNameProblem(image)).toBe(problem);
  });
});

describe('parallelPulls', () => {
  it.each([
    ['pulls go on four at a time where nothing is said', undefined, undefined, 4],
    ['pulls go on one at a time with serializeImagePulls', true, undefined, 1],
    ['pulls go on all at once without serializeImagePulls', false, undefined, Infinity],
    ['pulls go on as many at a time as maxParallelImagePulls says', false, 3, 3],
  ])('%s', (_rule, serializeImagePulls, maxParallelImagePulls, expected) => {
    expect(parallelPulls({ serializeImagePulls, maxParallelImagePulls })).toBe(expected);
  });
});
