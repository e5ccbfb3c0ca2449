/** A state, and when it began, in milliseconds since the manifests appeared. */
export interface Beginning {
  readonly state: string;
  readonly from: number;
}

/**
 * The moment of ours, in milliseconds, at which the recording ends.
 *
 * The machine of the recording was slow, and slower each time that it made a container: so we come to its last state
 * long before it. That state was looked at until the manifests were taken away, and nobody knows what would have come
 * then. So ours is known for as long as that after it came to the same state, and what it does later is past the end of
 * the recording. Whoever leaves that state sooner than the recording did is found out. A life that does not go through
 * the states of the recording in their order has no such excuse.
 */
export function recordingEnd(theirs: readonly Beginning[], ours: readonly Beginning[], removedAt: number): number {
  const last = theirs.at(-1);
  if (!last) return removedAt;
  let at = 0;
  for (const { state } of theirs) {
    const index = ours.findIndex((mine, each) => each >= at && mine.state === state);
    if (index < 0) return removedAt;
    at = index;
  }
  const from = ours[at]?.from ?? removedAt;
  return Math.min(removedAt, from + Math.max(0, removedAt - last.from));
}
