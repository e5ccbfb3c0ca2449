import { describe, expect, it } from 'vitest';
import { subPathOf } from '../../../../src/model/volumes/expand-sub-path.ts';

const VARIABLES = new Map([
  ['NAME', 'web'],
  ['UP', '..'],
  ['ROOT', '/etc'],
]);

describe('subPathOf', () => {
  it.each([
    ['is the whole volume where nothing is said', {}, { kind: 'path', path: '' }],
    ['is a path as it is given, variables and all', { subPath: 'a/$(NAME)' }, { kind: 'path', path: 'a/$(NAME)' }],
    ['puts in the variables of the container', { subPathExpr: 'a/$(NAME)' }, { kind: 'path', path: 'a/web' }],
    [
      'names each variable once that is not set',
      { subPathExpr: '$(A)/$(B)/$(A)' },
      { kind: 'wrong', message: 'missing value for A, B' },
    ],
    [
      'never leads out of the volume',
      { subPath: 'a/../b' },
      { kind: 'wrong', message: "unable to provision SubPath `a/../b`: must not contain '..'" },
    ],
    [
      'never leads out of the volume by a variable',
      { subPathExpr: '$(UP)/b' },
      { kind: 'wrong', message: "unable to provision SubPath `../b`: must not contain '..'" },
    ],
    ['may hold two dots in a name', { subPath: 'a..b' }, { kind: 'path', path: 'a..b' }],
    [
      'is never absolute, by a variable either',
      { subPathExpr: '$(ROOT)' },
      { kind: 'wrong', message: 'error SubPath `/etc` must not be an absolute path' },
    ],
  ])('%s', (_, mount, expected) => {
    expect(subPathOf({ name: 'v', mountPath: '/v', ...mount }, VARIABLES)).toEqual(expected);
  });
});
