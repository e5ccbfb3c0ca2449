import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseOptions } from '../../../bench/options.ts';

describe('parseOptions', () => {
  test('measures all on both runtimes, three times, where nothing is said', () => {
    expect(parseOptions([])).toMatchObject({
      runtimes: ['1.6', '2'],
      parts: ['story', 'start', 'idle', 'load'],
      story: [1, 10, 60],
      pods: [0, 12, 62, 110],
      repetitions: 3,
      agents: [],
    });
  });

  test('takes other agents, with or without a place where they serve', () => {
    expect(parseOptions(['--agents', 'kubelet=k.sh,other=o.sh', '--api=kubelet=http://127.0.0.1:10255'])).toMatchObject(
      {
        agents: [
          { name: 'kubelet', script: resolve('k.sh'), api: 'http://127.0.0.1:10255' },
          { name: 'other', script: resolve('o.sh') },
        ],
      },
    );
  });

  test.each([
    [['--runtime', '3'], '--runtime is 1.6 or 2, not 3'],
    [['--n', '10,many'], '--n wants whole numbers from 1 on, not many'],
    [['--reps=0'], '--reps wants whole numbers from 1 on, not 0'],
    [['--parts', 'tale'], '--parts has no tale: they are story, start, idle, load'],
    [['--agents', 'k.sh'], '--agents wants NAME=VALUE, not k.sh'],
    [['--wrong'], "Unknown option '--wrong'"],
  ])('refuses %j', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});
