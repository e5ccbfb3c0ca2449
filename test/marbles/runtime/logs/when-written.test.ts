import { defer, map, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerStatusRequest, ContainerStatusResponse } from '../../../../src/model/cri/api.ts';
import { whenWritten } from '../../../../src/runtime/logs/when-written.ts';
import { marbles } from '../../harness.ts';

const answers: Readonly<Record<string, ContainerStatusResponse>> = {
  r: { status: { id: 'c', state: 'CONTAINER_RUNNING' } },
  e: { status: { id: 'c', state: 'CONTAINER_EXITED' } },
};

describe('whenWritten', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, flush }) => {
      const asked: unknown[] = [];
      const containerStatus = ({ containerId }: ContainerStatusRequest): Observable<ContainerStatusResponse> =>
        defer(() => {
          asked.push(containerId);
          return cold(asked.length < 3 ? '--(r|)' : '--(e|)', answers);
        });
      const written$ = whenWritten({ containerStatus }, 'c').pipe(map(() => 'x'));
      expectObservable(written$).toBe('206ms (x|)');
      flush();
      expect(asked).toEqual(['c', 'c', 'c']);
    }),
  );

  it(
    'does not wait for what the runtime cannot tell',
    marbles(({ cold, expectObservable }) => {
      const written$ = whenWritten({ containerStatus: () => cold('--#') }, 'c').pipe(map(() => 'x'));
      expectObservable(written$).toBe('--(x|)');
    }),
  );
});
