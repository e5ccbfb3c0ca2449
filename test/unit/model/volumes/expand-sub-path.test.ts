import { describe, expect, it } from 'vitest';
import { subPathOf } from '../../../../src/model/volumes/expand-sub-path.ts';

const VARIABLES = new Map([
  ['NAME', 'web'],
  ['UP', '..'],
  ['ROOT', '/etc'],
]);

describe('subPathOf', () => {
  it.each([
    ['a mount without subPath is of the whole volume', {}, { kind: 'path', path: '' }],
    ['subPath is taken as it stands, variables and all', { subPath: 'a/$(NAME)' }, { kind: 'path', path: 'a/$(NAME)' }],
    [
      'subPathExpr takes in the variables of the container',
      { subPathExpr: 'a/$(NAME)' },
      { kind: 'path', path: 'a/web' },
    ],
    [
      'a variable of subPathExpr that is not set is an error, which names each once',
      { subPathExpr: '$(A)/$(B)/$(A)' },
      { kind: 'wrong', message: 'missing value for A, B' },
    ],
    [
      'subPath never leads up',
      { subPath: 'a/../b' },
      { kind: 'wrong', message: "unable to provision SubPath `a/../b`: must not contain '..'" },
    ],
    [
      'subPathExpr never leads up by a variable',
      { subPathExpr: '$(UP)/b' },
      { kind: 'wrong', message: "unable to provision SubPath `../b`: must not contain '..'" },
    ],
    ['two dots inside of a name are part of the name', { subPath: 'a..b' }, { kind: 'path', path: 'a..b' }],
    [
      'subPathExpr is never absolute, by a variable either',
      { subPathExpr: '$(ROOT)' },
      { kind: 'wrong', message: 'error SubPath `/etc` must not be an absolute path' },
    ],
  ])('%s', (_, mount, expected) => {
    expect(subPathOf({ name: 'v', mountPath: '/v', ...mount }, VARIABLES)).toEqual(expected);
  });
});
