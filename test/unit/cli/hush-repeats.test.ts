import { describe, expect, it } from 'vitest';
import { EMPTY_LOG_MEMORY, hushRepeats, type LogMemory } from '../../../src/cli/hush-repeats.ts';
import type { LogLine } from '../../../src/cli/log-line.ts';

const broken: LogLine = { level: 'error', message: 'broken' };

/** What is written of lines that come at the given milliseconds. */
function written(lines: readonly (readonly [at: number, line: LogLine])[]): readonly unknown[] {
  let memory: LogMemory = EMPTY_LOG_MEMORY;
  return lines.flatMap(([at, line]) => {
    memory = hushRepeats(memory, line, at);
    return memory.line ? [[memory.line.at, memory.line.message, memory.line.repeated]] : [];
  });
}

describe('hushRepeats', () => {
  it('writes the same error once a minute, with the number of those held back', () => {
    expect(
      written([
        [0, broken],
        [1_000, broken],
        [59_999, broken],
        [60_000, broken],
        [60_001, broken],
        [120_000, broken],
      ]),
    ).toEqual([
      [0, 'broken', 0],
      [60_000, 'broken', 2],
      [120_000, 'broken', 1],
    ]);
  });

  it('tells errors apart by level, text and fields', () => {
    const lines: readonly LogLine[] = [
      broken,
      { level: 'warn', message: 'broken' },
      { level: 'error', message: 'other' },
      { level: 'error', message: 'broken', fields: { pod: 'a' } },
      { level: 'error', message: 'broken', fields: { pod: 'b' } },
    ];
    expect(written(lines.map((line) => [0, line]))).toHaveLength(5);
  });

  it('lets news and details always pass', () => {
    const news: LogLine = { level: 'info', message: 'started' };
    const detail: LogLine = { level: 'debug', message: 'relist' };
    expect(
      written([
        [0, news],
        [1, news],
        [2, detail],
        [3, detail],
      ]),
    ).toHaveLength(4);
  });

  it('forgets the oldest complaint rather than grow without end', () => {
    let memory: LogMemory = EMPTY_LOG_MEMORY;
    for (let each = 0; each < 3_000; each += 1) {
      memory = hushRepeats(memory, { level: 'error', message: String(each) }, 0);
    }
    expect(memory.hushed.size).toBe(1_000);
    expect(hushRepeats(memory, { level: 'error', message: '2999' }, 1).line).toBeUndefined();
    expect(hushRepeats(memory, { level: 'error', message: '0' }, 1).line).toBeDefined();
  });
});
