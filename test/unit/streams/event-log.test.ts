import { describe, expect, it } from 'vitest';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { EMPTY_EVENT_LOG, recordEvent, type EventLog, type Happened } from '../../../src/streams/events/event-log.ts';

const of = { uid: 'u' as PodUid, name: 'web', namespace: 'default' };
const pod: Pod = {
  metadata: { uid: of.uid, name: 'web', namespace: 'default', labels: {}, annotations: {} },
  spec: { initContainers: [{ name: 'before' }], containers: [{ name: 'main' }] },
};

function happened(message: string, container?: string): Happened {
  return { of, pod, note: { level: 'Warning', reason: 'Unhealthy', message, ...(container ? { container } : {}) } };
}

function after(...messages: readonly string[]): EventLog {
  return messages.reduce((log, message, at) => recordEvent(log, happened(message), at), EMPTY_EVENT_LOG);
}

const told = (log: EventLog): readonly string[] =>
  [...log.events.values()].map(({ message, count }) => `${message} ${count}`);

describe('recordEvent', () => {
  it('counts equal events instead of keeping each, and keeps the times of the first and the last', () => {
    const log = after('a', 'b', 'a');
    expect(told(log)).toEqual(['b 1', 'a 2']);
    expect([...log.events.values()].at(-1)).toMatchObject({ firstAt: 0, lastAt: 2 });
  });

  it('says where in the pod it happened', () => {
    const log = recordEvent(recordEvent(EMPTY_EVENT_LOG, happened('a', 'main'), 0), happened('a', 'before'), 1);
    const where = [...log.events.values()].map(({ fieldPath }) => fieldPath);
    expect(where).toEqual(['spec.containers{main}', 'spec.initContainers{before}']);
  });

  it('forgets the oldest when there are a thousand', () => {
    const log = after(...Array.from({ length: 1_001 }, (_, n) => String(n)));
    expect(log.events.size).toBe(1_000);
    expect(told(log)[0]).toBe('1 1');
    expect(told(recordEvent(log, happened('0'), 1_001)).at(-1)).toBe('0 1');
  });

  it('keeps the order and the counts of many that come again', () => {
    const messages = Array.from({ length: 5_000 }, (_, n) => String((n * n) % 700));
    const last = messages.filter((message, at) => messages.lastIndexOf(message) === at);
    const times = (message: string): number => messages.filter((one) => one === message).length;
    expect(told(after(...messages))).toEqual(last.map((message) => `${message} ${times(message)}`));
  });

  it('leaves the log that it was given as it was', () => {
    const log = after('a');
    recordEvent(log, happened('b'), 9);
    expect(told(log)).toEqual(['a 1']);
  });
});
