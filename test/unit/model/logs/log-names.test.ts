import { describe, expect, it } from 'vitest';
import { partsOf, rotationName } from '../../../../src/model/logs/log-names.ts';

const NOW = Date.parse('2026-01-02T15:04:05.678Z');

describe('partsOf', () => {
  it('tells the parts of one log from everything else in its folder, oldest first', () => {
    const files = [
      '0.log',
      '1.log',
      '1.log.20260102-150405',
      '1.log.20260102-150404.gz',
      '1.log.20260102-150405.tmp',
      '1.log.old',
      '11.log.20260102-150405',
    ];
    expect(partsOf('1.log', files).map(({ file }) => file)).toEqual([
      '1.log.20260102-150404.gz',
      '1.log.20260102-150405',
      '1.log',
    ]);
  });

  it('tells a part that is just being compressed once, as it was', () => {
    const files = ['0.log.20260102-150405', '0.log.20260102-150405.gz'];
    const expected = [{ file: '0.log.20260102-150405', rotated: '20260102-150405', compressed: false }];
    expect(partsOf('0.log', files)).toEqual(expected);
    expect(partsOf('0.log', files.toReversed())).toEqual(expected);
  });
});

describe('rotationName', () => {
  it('is of this second, as the kubelet names it', () => {
    expect(rotationName('0.log', [], NOW)).toBe('0.log.20260102-150405');
  });

  it('is of the next second that is free where a log is rotated twice in one, or the clock was set back', () => {
    const rotated = partsOf('0.log', ['0.log.20260102-150405.gz', '0.log.20260102-235959']);
    expect(rotationName('0.log', rotated, NOW)).toBe('0.log.20260103-000000');
    expect(rotationName('0.log', rotated.slice(0, 1), NOW)).toBe('0.log.20260102-150406');
  });
});
