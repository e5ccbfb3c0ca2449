import { describe, expect, it } from 'vitest';
import { lastLines } from '../../../../src/model/log-lines.ts';
import { isOf, recordHead } from '../../../../src/model/logs/log-record.ts';

const TIME = '2026-01-02T15:04:05.123456789Z';

describe('a record of a log', () => {
  it.each([
    {
      rule: 'a record is time, stream, tag and text',
      text: `${TIME} stderr F oops`,
      head: { time: TIME, stream: 'stderr', partial: false, length: TIME.length + 10 },
    },
    {
      rule: 'the tag P says that the line goes on',
      text: `${TIME} stdout P half`,
      head: { time: TIME, stream: 'stdout', partial: true, length: TIME.length + 10 },
    },
    {
      rule: 'further tags may follow the first behind a colon',
      text: `${TIME} stdout F:x text`,
      head: { time: TIME, stream: 'stdout', partial: false, length: TIME.length + 12 },
    },
    {
      rule: 'an empty line has a record, too',
      text: `${TIME} stdout F`,
      head: { time: TIME, stream: 'stdout', partial: false, length: TIME.length + 9 },
    },
    { rule: 'what has no such beginning is no record', text: 'half a line', head: undefined },
  ])('$rule', ({ text, head }) => {
    expect(recordHead(text)).toEqual(head);
  });

  it('a record is of its own stream and of all', () => {
    expect((['All', 'Stdout', 'Stderr'] as const).map((wanted) => isOf(wanted, 'stderr'))).toEqual([true, false, true]);
  });
});

describe('the last lines of a log', () => {
  const record = (text: string, tag = 'F'): string => `${TIME} stdout ${tag} ${text}\n`;

  it.each([
    {
      rule: 'the last lines are those before the end',
      log: record('a') + record('b') + record('c'),
      lines: 2,
      expected: 'b\nc\n',
    },
    {
      rule: 'parts of a line are one line',
      log: record('a') + record('b', 'P') + record('c'),
      lines: 1,
      expected: 'bc\n',
    },
    { rule: 'a line that has no end yet is told', log: record('a') + record('b', 'P'), lines: 1, expected: 'b' },
    { rule: 'half a record at the beginning is left out', log: `out F x\n${record('a')}`, lines: 9, expected: 'a\n' },
    { rule: 'an empty log has no lines', log: '', lines: 9, expected: '' },
  ])('$rule', ({ log, lines, expected }) => {
    expect(lastLines(log, lines, 1_000)).toBe(expected);
  });

  it('bytes are counted from the end, not letters', () => {
    expect(lastLines(record('üüü'), 9, 5)).toBe('üü\n');
  });
});
