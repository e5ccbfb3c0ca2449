import { describe, expect, it } from 'vitest';
import {
  defaultIdRange,
  freeIds,
  parseUserNamespace,
  printUserNamespace,
  subIdRange,
  userNamespaceAt,
  type IdRange,
} from '../../../src/model/user-namespace.ts';

describe('freeIds', () => {
  const runs = (...starts: readonly number[]) => starts.map((start) => ({ start, length: 65_536 }));

  it.each<[string, readonly IdRange[], number | undefined]>([
    ['the first ones above those of the node', [], 65_536],
    ['the lowest ones that nobody has', runs(65_536, 196_608), 131_072],
    ['none where every pod has some', runs(65_536, 131_072, 196_608), undefined],
    ['none of those of a pod that got more when it began', [{ start: 65_536, length: 131_072 }], 196_608],
  ])('are %s', (_which, taken, first) => {
    expect(freeIds(defaultIdRange(3, 65_536), taken, 65_536)?.start).toBe(first);
  });

  it('are as many as asked for, and keep clear of pods that have fewer', () => {
    expect(freeIds(defaultIdRange(3, 131_072), runs(131_072), 131_072)).toEqual({ start: 196_608, length: 131_072 });
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
    expect(printUserNamespace({ start: 131_072, length: 65_536 })).toBe(
      '{"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],"gidMappings":[{"hostId":131072,"containerId":0,"length":65536}]}',
    );
    expect(parseUserNamespace(printUserNamespace({ start: 131_072, length: 65_536 }))).toEqual({
      start: 131_072,
      length: 65_536,
    });
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
    expect(userNamespaceAt({ start: 65_536, length: 65_536 })).toEqual({ mode: 'POD', uids: mappings, gids: mappings });
  });
});
