import { EMPTY, NEVER, tap, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { PodStatus, PodUid } from '../../../../src/model/pod.ts';
import { notingStore } from '../../../../src/streams/checkpoints/noting-store.ts';
import { marbles } from '../../harness.ts';

const UID = 'u-1' as PodUid;
const ENDED: PodStatus = { phase: 'Succeeded' };

function over(write$: Observable<undefined>, told: Map<PodUid, PodStatus | undefined>): ReturnType<typeof notingStore> {
  return notingStore({ load: () => NEVER, save: () => write$, remove: () => write$ }, told);
}

describe('notingStore', () => {
  it.each(['--|', '--#'])('notes a status when its write is over, be it done or not: %s', (diagram) => {
    marbles(({ cold, expectObservable, flush }) => {
      const told = new Map<PodUid, PodStatus | undefined>();
      const seen: unknown[] = [];
      expectObservable(over(cold(diagram), told).save({ version: 1, uid: UID, status: ENDED })).toBe(diagram);
      const look$ = cold<undefined>('-x-x').pipe(tap(() => seen.push(told.get(UID))));
      expectObservable(look$).toBe('-x-x');
      flush();
      expect(seen).toEqual([undefined, ENDED]);
    })();
  });

  it('forgets a pod when its checkpoint is removed', () => {
    const told = new Map<PodUid, PodStatus | undefined>([[UID, ENDED]]);
    over(EMPTY, told).remove(UID).subscribe();
    expect(told.size).toBe(0);
  });
});
