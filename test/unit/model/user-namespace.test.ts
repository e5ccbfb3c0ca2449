import { describe, expect, it } from 'vitest';
import {
  defaultIdRange,
  freeIds,
  parseUserNamespace,
  printUserNamespace,
  subIdRange,
  userNamespaceAt,
} from '../../../src/model/user-namespace.ts';

describe('freeIds', () => {
  it.each<[string, readonly number[], number | undefined]>([
    ['the first ones above those of the node', [], 65_536],
    ['the lowest ones that nobody has', [65_536, 196_608], 131_072],
    ['none where every pod has some', [65_536, 131_072, 196_608], undefined],
  ])('are %s', (_which, taken, first) => {
    expect(freeIds(defaultIdRange(3), new Set(taken))).toBe(first);
  });
});

describe('subIdRange', () => {
  it.each<[string, string, object | undefined]>([
    ['reads the line of the user', 'root:1:2\nkubelet:131072:7208960\n', { start: 131_072, length: 7_208_960 }],
    ['finds nothing without one', 'root:1:2\n', undefined],
    ['finds nothing where two lines contradict each other', 'kubelet:1:2\nkubelet:3:4\n', undefined],
    ['finds nothing in what are no numbers', 'kubelet:a:b\n', undefined],
  ])('%s', (_rule, text, range) => {
    expect(subIdRange(text, 'kubelet')).toEqual(range);
  });
});

describe('parseUserNamespace', () => {
  it('reads what was written, in the form of the kubelet', () => {
    expect(printUserNamespace(131_072)).toBe(
      '{"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],"gidMappings":[{"hostId":131072,"containerId":0,"length":65536}]}',
    );
    expect(parseUserNamespace(printUserNamespace(131_072))).toBe(131_072);
  });

  it.each(['', '{', '[]', '{"uidMappings":[]}', '{"uidMappings":[{"hostId":"1"}]}'])(
    'reads nothing from %s',
    (text) => {
      expect(parseUserNamespace(text)).toBeUndefined();
    },
  );
});

describe('userNamespaceAt', () => {
  it('maps users and groups alike', () => {
    const mappings = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
    expect(userNamespaceAt(65_536)).toEqual({ mode: 'POD', uids: mappings, gids: mappings });
  });
});
