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

/** The last events, each under what makes it equal to others; the one that came last stands last. */
export type EventLog = ReadonlyMap<string, PodEvent>;

export const EMPTY_EVENT_LOG: EventLog = new Map();

/** What is to be recorded. `pod` tells which kind of container a name means; it is absent once the pod is forgotten. */
export interface Happened {
  readonly of: EventSubject;
  readonly note: PodNote;
  readonly pod?: Pod | undefined;
}

/** Events that are kept at most; older ones make room. */
const CAPACITY = 1_000;

/** Records one event at a time (milliseconds since 1970). Pure. */
export function recordEvent(log: EventLog, { of, note, pod }: Happened, at: number): EventLog {
  const { level: type, reason, message, container } = note;
  const fieldPath = container === undefined ? undefined : fieldPathOf(container, pod);
  const key = JSON.stringify([of.uid, type, reason, message, fieldPath]);
  const before = log.get(key);
  const next = new Map(log);
  next.delete(key); // it moves to the end
  if (!before && next.size >= CAPACITY) next.delete(next.keys().next().value ?? '');
  next.set(key, {
    of,
    type,
    reason,
    message,
    ...(fieldPath === undefined ? {} : { fieldPath }),
    count: (before?.count ?? 0) + 1,
    firstAt: before?.firstAt ?? at,
    lastAt: at,
  });
  return next;
}

export function nodeSubject(name: string): EventSubject {
  return { kind: 'Node', uid: name, name, namespace: '' };
}

function fieldPathOf(container: string, pod: Pod | undefined): string {
  const isInit = pod?.spec.initContainers?.some(({ name }) => name === container) === true;
  return `spec.${isInit ? 'initContainers' : 'containers'}{${container}}`;
}
