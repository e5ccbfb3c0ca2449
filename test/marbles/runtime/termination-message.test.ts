import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerStatus } from '../../../src/model/cri/api.ts';
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from '../../../src/model/cri/labels.ts';
import { terminationMessage } from '../../../src/runtime/termination-message.ts';
import type { Files } from '../../../src/streams/ports/files.ts';
import { unexpected } from '../operators/unexpected.ts';

const FALLBACK = 'FallbackToLogsOnError';

interface Ended {
  /** What the container wrote to its file; absent: the file is not there. */
  readonly file?: string;
  readonly path?: string;
  readonly policy?: string;
  readonly exitCode?: number;
  /** Lines of its log. */
  readonly log?: readonly string[];
}

/** What is told of a container that ended so. */
function told({ file, path = '/dev/termination-log', policy = 'File', exitCode = 1, log = [] }: Ended): string {
  const status: ContainerStatus = {
    annotations: { [TERMINATION_MESSAGE_PATH]: path, [TERMINATION_MESSAGE_POLICY]: policy },
    exitCode,
    mounts: [
      { containerPath: '/data', hostPath: '/host/data' },
      { containerPath: '/dev/termination-log', hostPath: '/host/last' },
    ],
    logPath: '/logs/0.log',
  };
  const text = log.map((line) => `2026-01-01T00:00:00Z stdout F ${line}\n`).join('');
  const texts = new Map([['/logs/0.log', text], ...(file === undefined ? [] : [['/host/last', file] as const])]);
  return valueOf(status, (asked, options) => of(texts.get(asked)?.slice(-(options?.tailBytes ?? Infinity))));
}

function valueOf(status: ContainerStatus, readFile: Files['readFile']): string {
  const values: string[] = [];
  terminationMessage(status, { readFile }).subscribe({ next: (value) => values.push(value), error: unexpected });
  expect(values).toHaveLength(1);
  return values[0] ?? '';
}

describe('terminationMessage', () => {
  const many = Array.from({ length: 100 }, (_, n) => `line ${n}`);

  it.each<{ rule: string; ended: Ended; expected: string }>([
    { rule: 'the message is what stands in the file', ended: { file: 'oops' }, expected: 'oops' },
    { rule: 'a success has a message, too', ended: { file: 'done', exitCode: 0 }, expected: 'done' },
    {
      rule: 'a file is read from its end, 4096 bytes at most',
      ended: { file: `${'a'.repeat(10)}${'b'.repeat(4_096)}` },
      expected: 'b'.repeat(4_096),
    },
    { rule: 'a file that is not there says nothing', ended: {}, expected: '' },
    {
      rule: 'a terminationMessagePath without its first slash is the same path',
      ended: { file: 'oops', path: 'dev/termination-log' },
      expected: 'oops',
    },
    {
      rule: 'a container without a terminationMessagePath has no message',
      ended: { file: 'oops', path: '' },
      expected: '',
    },
    { rule: 'under the policy File the log says nothing', ended: { file: '', log: ['oops'] }, expected: '' },
    {
      rule: 'under FallbackToLogsOnError a failure without words is told by its log',
      ended: { file: '', policy: FALLBACK, log: ['one', 'two'] },
      expected: 'one\ntwo\n',
    },
    {
      rule: 'under FallbackToLogsOnError the file goes before the log',
      ended: { file: 'oops', policy: FALLBACK, log: ['one'] },
      expected: 'oops',
    },
    {
      rule: 'under FallbackToLogsOnError the log of a success says nothing',
      ended: { file: '', policy: FALLBACK, exitCode: 0, log: ['one'] },
      expected: '',
    },
    {
      rule: 'under FallbackToLogsOnError a file that is not there falls back, too',
      ended: { policy: FALLBACK, log: ['one'] },
      expected: 'one\n',
    },
    {
      rule: 'of the log the last 80 lines are told',
      ended: { file: '', policy: FALLBACK, log: many },
      expected: many.slice(-80).join('\n') + '\n',
    },
    {
      rule: 'of the log the last 2048 bytes are told',
      ended: { file: '', policy: FALLBACK, log: ['a'.repeat(1_000), 'b'.repeat(2_000)] },
      expected: `${'a'.repeat(46)}\n${'b'.repeat(2_000)}\n`,
    },
  ])('$rule', ({ ended, expected }) => {
    expect(told(ended)).toBe(expected);
  });

  it('a file that cannot be read is no reason to know less of the container', () => {
    const status = {
      annotations: { [TERMINATION_MESSAGE_PATH]: '/x' },
      mounts: [{ containerPath: '/x', hostPath: '/h' }],
    };
    expect(valueOf(status, () => throwError(() => new Error('EIO')))).toBe('');
  });
});
