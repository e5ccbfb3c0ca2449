import { describe, expect, it } from 'vitest';
import { formatJsonLine, formatPrettyLine, type StampedLine } from '../../../src/cli/log-line.ts';

const line: StampedLine = {
  level: 'warn',
  message: 'cannot pull\nno such host',
  fields: { pod: 'default/web', image: 'a b' },
  at: Date.UTC(2026, 0, 31, 12, 0, 0, 5),
  repeated: 0,
};

describe('formatJsonLine', () => {
  it('writes one object per line', () => {
    const text = formatJsonLine(line);
    expect(text.trimEnd()).not.toContain('\n');
    expect(JSON.parse(text)).toEqual({
      time: '2026-01-31T12:00:00.005Z',
      level: 'warn',
      message: 'cannot pull\nno such host',
      pod: 'default/web',
      image: 'a b',
    });
  });

  it('tells how often a line was held back', () => {
    expect(JSON.parse(formatJsonLine({ ...line, repeated: 3 }))).toMatchObject({ repeated: 3 });
  });
});

describe('formatPrettyLine', () => {
  it('writes time, level, message and fields, further lines indented', () => {
    expect(formatPrettyLine(line, false)).toMatch(
      /^\d\d:\d\d:\d\d warn {2}cannot pull\n {15}no such host pod=default\/web image="a b"\n$/,
    );
  });

  it('tells how often a line was held back', () => {
    expect(formatPrettyLine({ ...line, repeated: 3 }, false)).toContain('(3 more since it was last shown)');
  });

  it('colours only when asked', () => {
    expect(formatPrettyLine(line, true)).toContain('\u001b[33mwarn');
    expect(formatPrettyLine(line, false)).not.toContain('\u001b');
  });
});
