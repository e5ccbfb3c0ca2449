import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../../src/model/pod.ts';
import { toleratesNoExecute } from '../../../../src/model/admission/tolerates.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

const TAINT = { key: 'a', value: 'x', effect: 'NoExecute' };

describe('toleratesNoExecute', () => {
  it.each<[rule: string, tolerations: readonly Toleration[], tolerated: boolean]>([
    ['is not so without a toleration', [], false],
    ['is so for the same key and value', [{ key: 'a', value: 'x' }], true],
    ['is not so for another value', [{ key: 'a', value: 'y' }], false],
    ['is not so for another key', [{ key: 'b', value: 'x' }], false],
    ['is so for every value where Exists is asked', [{ key: 'a', operator: 'Exists' }], true],
    ['is so for every taint where Exists has no key', [{ operator: 'Exists' }], true],
    ['is not so where Equal has no key', [{ operator: 'Equal', value: 'x' }], false],
    ['is not so for another effect', [{ key: 'a', value: 'x', effect: 'NoSchedule' }], false],
    ['is so for this effect', [{ key: 'a', value: 'x', effect: 'NoExecute' }], true],
    ['takes one of several tolerations', [{ key: 'b' }, { key: 'a', value: 'x' }], true],
    ['knows no other operators', [{ key: 'a', operator: 'Like', value: 'x' }], false],
  ])('%s', (_rule, tolerations, tolerated) => {
    expect(toleratesNoExecute({ containers: [], tolerations }, [TAINT])).toBe(tolerated);
  });

  it('is so for no value where the taint has none either', () => {
    const bare = { key: 'a', effect: 'NoExecute' };
    expect(toleratesNoExecute({ containers: [], tolerations: [{ key: 'a' }] }, [bare])).toBe(true);
    expect(toleratesNoExecute({ containers: [], tolerations: [{ key: 'a', value: 'x' }] }, [bare])).toBe(false);
  });

  it('asks about taints that end pods only, and about each of those', () => {
    expect(toleratesNoExecute({ containers: [] }, [{ key: 'a', value: 'x', effect: 'NoSchedule' }])).toBe(true);
    const other = { key: 'b', value: 'x', effect: 'NoExecute' };
    expect(toleratesNoExecute({ containers: [], tolerations: [{ key: 'a', value: 'x' }] }, [TAINT, other])).toBe(false);
  });
});
