import { asyncScheduler, EMPTY, merge, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { upkeep } from '../../../../src/streams/agent/upkeep.ts';
import type { World } from '../../../../src/streams/agent/world.ts';
import { emptyBook } from '../../../../src/streams/book/pod-book.ts';
import { DEAF } from '../../../../src/streams/ports/meter.ts';
import { fakeCgroups, fakeFiles } from '../../fakes.ts';
import { marbles } from '../../harness.ts';

const BOOK = {
  ...emptyBook({ runtimeName: 'fake', hostIps: [], update: 'prepare', statuses: new Map() }),
  allSeen: true,
  runtimeSeen: true,
};

describe('upkeep', () => {
  it(
    'leaves the node to the pods for a second: folders, cgroups and images are looked at after it',
    marbles(({ expectObservable, flush }) => {
      const begun = new Map<string, number>();
      const note = (what: string): void => {
        if (!begun.has(what)) begun.set(what, asyncScheduler.now());
      };
      const world = {
        files: fakeFiles([], {
          list: () => {
            note('folders');
            return of([]);
          },
        }),
        paths: { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' },
        unmountVolumes: () => EMPTY,
        meter: DEAF,
        cgroups: {
          port: fakeCgroups([], {
            apply: () => {
              note('cgroups');
              return of('set');
            },
          }),
          layout: { root: '', driver: 'cgroupfs', fixed: new Map() },
        },
        imageGc: {
          images: {
            disk: () => {
              note('images');
              return of(undefined);
            },
            list: () => of([]),
          },
          limits: { highThresholdPercent: 85, lowThresholdPercent: 80, minimumAge: 0, maximumAge: 0, evictionHard: {} },
        },
        monotonic: () => asyncScheduler.now(),
      } as unknown as World;
      const none = { isInRuntime: () => false, isHeld: () => false, told: () => undefined };
      const known = { book$: of(BOOK), book: () => BOOK, ...none };
      const { housekeeping$, cgroup$, imageGc$ } = upkeep(world, 60_000, known);
      expectObservable(merge(housekeeping$, cgroup$, imageGc$), '^ 2s !').toBe('-');
      flush();
      expect(Object.fromEntries(begun)).toEqual({ folders: 1_000, cgroups: 1_000, images: 1_000 });
    }),
  );
});
