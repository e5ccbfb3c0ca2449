import { tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../../src/cli/log-line.ts';
import { writeLog, type LogConfig } from '../../../src/cli/log.ts';
import { marbles } from '../harness.ts';

const LINES: Readonly<Record<string, LogLine>> = {
  e: { level: 'error', message: 'broken' },
  i: { level: 'info', message: 'news' },
  d: { level: 'debug', message: 'detail' },
};

function logOf(
  verbosity: number,
  pretty: boolean,
): { readonly config: LogConfig; readonly text: () => readonly string[] } {
  const written: string[] = [];
  return { config: { verbosity, pretty, colour: false, write: (text) => written.push(text) }, text: () => written };
}

function messages(text: readonly string[]): readonly unknown[] {
  return text.map((line) => (JSON.parse(line) as { message: unknown }).message);
}

describe('writeLog', () => {
  it(
    'writes an error once a minute of virtual time, emits nothing and ends with its source',
    marbles(({ cold, expectObservable, flush }) => {
      const { config, text } = logOf(0, false);
      const source = cold('   e 29s e 29s e 59s e|', LINES);
      expectObservable(source.pipe(writeLog(config))).toBe('- 29s - 29s - 59s -|');
      flush();
      // At 0, 29.001, 58.002 and 117.003 s.
      expect(messages(text())).toEqual(['broken', 'broken']);
    }),
  );

  it(
    'shows details from level 4 on',
    marbles(({ cold, expectObservable, flush }) => {
      const quiet = logOf(3, false);
      const chatty = logOf(4, false);
      const source = cold('(ied|)', LINES);
      expectObservable(source.pipe(writeLog(quiet.config))).toBe('|');
      expectObservable(source.pipe(writeLog(chatty.config))).toBe('|');
      flush();
      expect(messages(quiet.text())).toEqual(['news', 'broken']);
      expect(messages(chatty.text())).toEqual(['news', 'broken', 'detail']);
    }),
  );

  it(
    'writes for people on a terminal, and starts afresh for each subscriber',
    marbles(({ cold, expectObservable, flush }) => {
      const { config, text } = logOf(0, true);
      const log = cold('(e|)', LINES).pipe(writeLog(config), tap());
      expectObservable(log).toBe('|');
      expectObservable(log).toBe('|');
      flush();
      expect(text()).toEqual([expect.stringContaining('error broken'), expect.stringContaining('error broken')]);
    }),
  );
});
