import type { FailedMount } from '../../model/pod-memory.ts';

/** Volumes that cannot be given to the pod; it waits until they can. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError';
  /** By the name of the volume: those that failed now, and those that failed before and are not tried again yet. */
  readonly failures: ReadonlyMap<string, FailedMount>;
  /** What failed now, in the kubelet's words. */
  readonly news: readonly string[];

  constructor(news: readonly string[], failures: ReadonlyMap<string, FailedMount>) {
    super(news[0] ?? [...failures.values()][0]?.error ?? 'a volume is not ready');
    this.news = news;
    this.failures = failures;
  }
}
