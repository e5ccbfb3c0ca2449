import type { Pod } from './pod.ts';

/** What people may ask of a pod by hand, whatever its manifest says. */
export const POD_VERBS = ['stop', 'start', 'restart'] as const;

export type PodVerb = (typeof POD_VERBS)[number];

export interface PodCommand {
  readonly verb: PodVerb;
  readonly namespace: string;
  readonly name: string;
}

/** What came of a command. */
export type PodReply =
  /** It is under way. */
  | { readonly kind: 'done' }
  /** It was so already. */
  | { readonly kind: 'nothingToDo' }
  /** No source wants a pod of this name. */
  | { readonly kind: 'unknown' }
  /** It could not be kept in mind over a restart of the agent, so it was not done. */
  | { readonly kind: 'failed'; readonly message: string };

/** Which pods are stopped by hand, as plain JSON data. */
export interface StopMemory {
  readonly version: 1;
  readonly stopped: readonly StoppedPod[];
}

/** The UID comes from what the manifest says, so it tells whether the manifest is still the same. */
export type StoppedPod = Pick<Pod['metadata'], 'namespace' | 'name' | 'uid'>;

export const NOTHING_STOPPED: StopMemory = { version: 1, stopped: [] };
