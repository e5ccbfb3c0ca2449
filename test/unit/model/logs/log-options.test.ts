import { describe, expect, it } from 'vitest';
import { readLogOptions, WHOLE_LOG, type LogOptions } from '../../../../src/model/logs/log-options.ts';

const NOW = Date.parse('2026-01-02T15:04:05Z');
const read = (query: string): ReturnType<typeof readLogOptions> => readLogOptions(new URLSearchParams(query), NOW);

describe('readLogOptions', () => {
  it.each<{ rule: string; query: string; options: Partial<LogOptions> }>([
    { rule: 'the whole log is told where nothing is said', query: '', options: {} },
    { rule: 'follow stays with the log', query: 'follow=true', options: { follow: true } },
    {
      rule: 'a switch without a value is on',
      query: 'follow&previous&timestamps',
      options: { follow: true, previous: true, timestamps: true },
    },
    { rule: 'a switch may be 1', query: 'follow=1', options: { follow: true } },
    { rule: 'a switch that is false or 0 is off', query: 'follow=false&timestamps=0', options: {} },
    { rule: 'tailLines counts lines from the end, from 0 up', query: 'tailLines=0', options: { tailLines: 0 } },
    { rule: 'tail is another name of tailLines', query: 'tail=3', options: { tailLines: 3 } },
    { rule: 'tailLines goes before tail', query: 'tail=3&tailLines=4', options: { tailLines: 4 } },
    { rule: 'all lines are no limit', query: 'tailLines=all', options: {} },
    { rule: 'limitBytes bounds the answer', query: 'limitBytes=1', options: { limitBytes: 1 } },
    { rule: 'sinceSeconds count back from now', query: 'sinceSeconds=5', options: { since: NOW - 5_000 } },
    {
      rule: 'sinceTime is a time as in RFC 3339',
      query: 'sinceTime=2026-01-02T16:04:00.5%2B01:00',
      options: { since: NOW - 4_500 },
    },
    {
      rule: 'stream chooses what was written to one of the two',
      query: 'stream=Stderr',
      options: { stream: 'Stderr' },
    },
  ])('$rule', ({ query, options }) => {
    expect(read(query)).toEqual({ ...WHOLE_LOG, ...options });
  });

  it.each([
    { rule: 'a switch of another value is refused', query: 'follow=perhaps', problem: 'follow must be true or false' },
    {
      rule: 'tailLines below 0 is refused',
      query: 'tailLines=-1',
      problem: 'tailLines must be a whole number from 0 up',
    },
    {
      rule: 'limitBytes below 1 is refused',
      query: 'limitBytes=0',
      problem: 'limitBytes must be a whole number from 1 up',
    },
    {
      rule: 'sinceSeconds below 1 is refused',
      query: 'sinceSeconds=0',
      problem: 'sinceSeconds must be a whole number from 1 up',
    },
    {
      rule: 'sinceSeconds beside sinceTime is refused',
      query: 'sinceSeconds=5&sinceTime=2026-01-02T15:04:05Z',
      problem: 'only one of sinceSeconds and sinceTime may be given',
    },
    {
      rule: 'a sinceTime that is no time is refused',
      query: 'sinceTime=yesterday',
      problem: 'sinceTime must look like',
    },
    {
      rule: 'an unknown stream is refused',
      query: 'stream=stdout',
      problem: 'stream must be one of All, Stdout, Stderr',
    },
  ])('$rule', ({ query, problem }) => {
    expect(read(query)).toEqual({ problem: expect.stringContaining(problem) as string });
  });
});
