import { draftOf } from '../../model/layered-map.ts';
import type { PodIdentity } from '../../model/paths.ts';
import type { Pod } from '../../model/pod.ts';
import type { PodNote } from '../workers/pod-work.ts';

/** Whom an event is about: a pod, or the node itself, which is in no namespace and whose uid is its name. */
export type EventSubject = (PodIdentity & { readonly kind?: never }) | NodeSubject;

interface NodeSubject {
  readonly kind: 'Node';
  readonly uid: string;
  readonly name: string;
  readonly namespace: '';
}

/** Something that happened to a pod, or to the node, as the kubelet tells it (facts sheet 29); equal ones are told once and counted. */
export interface PodEvent {
  readonly of: EventSubject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** `spec.containers{web}`; absent where it concerns the pod as a whole. */
  readonly fieldPath?: string;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The last events. */
export interface EventLog {
  /** By their numbers; the one that came last stands last, also where it had come before. */
  readonly events: ReadonlyMap<number, PodEvent>;
  /** The number of each, by what makes it equal to others. */
  readonly numbers: ReadonlyMap<string, number>;
  /** The number that was given last. */
  readonly last: number;
}

export const EMPTY_EVENT_LOG: EventLog = { events: new Map(), numbers: new Map(), last: 0 };

/** What is to be recorded. `pod` tells which kind of container a name means; it is absent once the pod is forgotten. */
export interface Happened {
  readonly of: EventSubject;
  readonly note: PodNote;
  readonly pod?: Pod | undefined;
}

/** Events that are kept at most; older ones make room. */
const CAPACITY = 1_000;

/** Records one event at a time (milliseconds since 1970), and shares all others with the log that it was given. Pure. */
export function recordEvent(log: EventLog, { of, note, pod }: Happened, at: number): EventLog {
  const { level: type, reason, message, container } = note;
  const fieldPath = container === undefined ? undefined : fieldPathOf(container, pod);
  const events = draftOf(log.events);
  const numbers = draftOf(log.numbers);
  const told = { of, type, reason, message, ...(fieldPath === undefined ? {} : { fieldPath }) };
  const key = keyOf(told);
  const former = numbers.get(key);
  const before = former === undefined ? undefined : events.get(former);
  if (former !== undefined) events.delete(former);
  else if (events.size >= CAPACITY) {
    for (const [number, oldest] of events) {
      events.delete(number);
      numbers.delete(keyOf(oldest));
      break;
    }
  }
  const number = log.last + 1;
  events.set(number, { ...told, count: (before?.count ?? 0) + 1, firstAt: before?.firstAt ?? at, lastAt: at });
  numbers.set(key, number);
  return { events: events.finish(), numbers: numbers.finish(), last: number };
}

function keyOf({ of, type, reason, message, fieldPath }: Omit<PodEvent, 'count' | 'firstAt' | 'lastAt'>): string {
  return JSON.stringify([of.uid, type, reason, message, fieldPath]);
}

export function nodeSubject(name: string): EventSubject {
  return { kind: 'Node', uid: name, name, namespace: '' };
}

function fieldPathOf(container: string, pod: Pod | undefined): string {
  const isInit = pod?.spec.initContainers?.some(({ name }) => name === container) === true;
  return `spec.${isInit ? 'initContainers' : 'containers'}{${container}}`;
}
