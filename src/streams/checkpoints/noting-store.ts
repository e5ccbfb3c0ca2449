import { defer, tap } from 'rxjs';
import type { PodStatus, PodUid } from '../../model/pod.ts';
import type { CheckpointStore } from './checkpoints.ts';

/**
 * A store that notes in `told` with which status each pod was last written, once that is done. What could not be written
 * counts, too: who waits for it has nothing to gain from waiting on, and the disk may need just what they wait to do.
 */
export function notingStore(store: CheckpointStore, told: Map<PodUid, PodStatus | undefined>): CheckpointStore {
  return {
    ...store,
    save: (checkpoint) =>
      defer(() => {
        const note = (): void => {
          told.set(checkpoint.uid, checkpoint.status);
        };
        return store.save(checkpoint).pipe(tap({ complete: note, error: note }));
      }),
    remove: (uid) =>
      defer(() => {
        told.delete(uid);
        return store.remove(uid);
      }),
  };
}
