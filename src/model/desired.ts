import type { LocalObject } from './objects/local-object.ts';
import type { Pod, SourceName } from './pod.ts';

/** Where in the input something stands. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Bad input, kept visible until it is mended; what already runs is never lost because of it. */
export interface Problem {
  readonly source: SourceName;
  /** The file or URL that holds the mistake. */
  readonly origin: string;
  readonly position?: Position;
  /** Kubernetes field path, as `spec.containers[0].image`. */
  readonly field?: string;
  /** `namespace/name` of the pod, where it is known. */
  readonly pod?: string;
  /** `kind/namespace/name` where it is about another object. */
  readonly object?: string;
  /** One sentence: what is wrong, and where it helps, what would be right. */
  readonly message: string;
}

/** Everything one source currently wants to run. Always whole, never a delta. */
export interface Desired {
  readonly source: SourceName;
  /** Which one it is among several sources of this name, as their URLs; absent: it is the only one. */
  readonly place?: string;
  /** Nothing is known yet of what it wants, so only its problems count: it has not been heard. */
  readonly unheard?: true;
  readonly pods: readonly Pod[];
  /** What serves its pods; absent: nothing. */
  readonly objects?: readonly LocalObject[];
  readonly problems: readonly Problem[];
}

/** Tells one source from every other. */
export function sourceKey({ source, place }: Pick<Desired, 'source' | 'place'>): string {
  return place ?? source;
}

/** How a source's wish for one pod changed (kubelet, PodUpdate operations). */
export interface PodChange {
  readonly op: 'add' | 'update' | 'remove' | 'delete' | 'reconcile';
  readonly source: SourceName;
  readonly pod: Pod;
  /** Who wanted it so, for people; absent: the source. */
  readonly why?: string;
}

/** `file:line:column: field: message`, as compilers print it. */
export function describeProblem({ origin, position, field, message }: Omit<Problem, 'source'>): string {
  const where = position ? `${origin}:${position.line}:${position.column}` : origin;
  return field ? `${where}: ${field}: ${message}` : `${where}: ${message}`;
}
