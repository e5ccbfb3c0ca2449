import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { tellSlowChange } from '../../../../src/runtime/volumes/tell-slow-change.ts';
import { marbles } from '../../harness.ts';

describe('tellSlowChange', () => {
  it(
    'says after 30 seconds, and each minute from then on, that a change is still going on (its diagram)',
    marbles(({ cold, expectObservable }) => {
      const change = cold('100s |');
      expectObservable(tellSlowChange('/v', change).pipe(map(({ reason }) => reason[0]))).toBe(
        '30s V 59999ms V 9999ms |',
      );
    }),
  );

  it(
    'says nothing of a change that is soon done, and fails with one that fails',
    marbles(({ cold, expectObservable }) => {
      expectObservable(tellSlowChange('/v', cold('--(x|)'))).toBe('--|');
      expectObservable(tellSlowChange('/v', cold('--#'))).toBe('--#');
    }),
  );

  it(
    'names the volume',
    marbles(({ cold, expectObservable }) => {
      expectObservable(tellSlowChange('/v', cold('-')), '^ 31s !').toBe('30s n', {
        n: {
          level: 'Warning',
          reason: 'VolumePermissionChangeInProgress',
          message: 'Setting volume ownership for /v is taking longer than expected',
        },
      });
      expect.hasAssertions();
    }),
  );
});
