import { delay, map, merge, of, takeUntil, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import { keepCgroups } from '../../../../src/streams/cgroups/keep-cgroups.ts';
import type { Cgroups } from '../../../../src/streams/ports/cgroups.ts';

const EMPTY = emptyBook({ runtimeName: 'fake', hostIps: [], update: 'prepare', statuses: new Map() });

function bookWith(cpu: string, more: Partial<PodBook> = {}): PodBook {
  const uid = 'u' as PodUid;
  const pod: Pod = {
    metadata: { uid, name: 'a', namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
  };
  const entry = { uid, pod, phase: 'syncing' } as unknown as Entry;
  return { ...EMPTY, entries: new Map([[uid, entry]]), ...more };
}

function recorded(log: string[], children: Readonly<Record<string, readonly string[]>> = {}): Cgroups {
  return {
    apply: (path, { cpuShares }) => {
      log.push(`${path} ${cpuShares ?? ''}`);
      return of('set');
    },
    remove: (path, how) => {
      log.push(`remove ${path} ${how}`);
      return path.includes('busy') ? throwError(() => new Error('EBUSY')) : of(undefined);
    },
    children: (path) => of(children[path] ?? []),
  };
}

const LAYOUT = { root: '', driver: 'cgroupfs', fixed: new Map([['/kubepods', { cpuShares: 2_048 }]]) } as const;

/** What it has done and said within the time given (milliseconds). */
function after(
  time: number,
  cgroups: (log: string[]) => Cgroups,
  books: readonly (readonly [at: number, book: PodBook])[],
  isKnown = true,
): readonly string[] {
  const log: string[] = [];
  new TestScheduler(() => undefined).run(({ flush }) => {
    const book$ = merge(...books.map(([at, book]) => timer(at).pipe(map(() => book))));
    keepCgroups(book$, cgroups(log), LAYOUT, () => isKnown)
      .pipe(takeUntil(timer(time)))
      .subscribe({ next: (told) => log.push(`told: ${told}`), error: (error: unknown) => log.push(String(error)) });
    flush();
  });
  return log;
}

const ALL = ['/kubepods 2048', '/kubepods/besteffort 2'];

describe('keepCgroups', () => {
  it('sets the cgroups above pods at first, and the weight of burstable pods whenever they change', () => {
    const books = [[0, bookWith('1')] as const, [10_000, bookWith('2')] as const, [20_000, bookWith('2')] as const];
    expect(after(30_000, recorded, books)).toEqual([
      '/kubepods/burstable 1024',
      ...ALL,
      '/kubepods/burstable 1024',
      '/kubepods/burstable 2048',
    ]);
  });

  it('sets the cgroups above pods anew every minute', () => {
    expect(after(61_000, recorded, [[0, bookWith('1')]]).slice(4)).toEqual([...ALL, '/kubepods/burstable 1024']);
  });

  it('sets the cgroups above pods though pods come and go meanwhile, with the newest weight', () => {
    const slow = (log: string[]): Cgroups => ({
      ...recorded(log),
      apply: (path, limits) => recorded(log).apply(path, limits).pipe(delay(20)),
    });
    const books = [0, 5, 10, 15, 30].map((at, n) => [at, bookWith(`${n + 1}`)] as const);
    expect(after(200, slow, books).filter((line) => ALL.includes(line))).toEqual(ALL);
    expect(after(200, slow, books).at(-1)).toBe('/kubepods/burstable 5120');
    const everyTwentySeconds = [...Array(10).keys()].map((n) => [n * 20_000, bookWith(`${n + 1}`)] as const);
    expect(after(185_000, slow, everyTwentySeconds).filter((line) => line === '/kubepods 2048')).toHaveLength(4);
  });

  it('removes the cgroups of pods that nobody knows, once it is known who is known, and only where they are empty', () => {
    const children = { '/kubepods': ['podgone', 'burstable'], '/kubepods/burstable': ['podbusy'] };
    const withLeftovers = (log: string[]): Cgroups => recorded(log, children);
    const removals = (log: readonly string[]): readonly string[] => log.filter((line) => !line.startsWith('/'));
    const complete = bookWith('1', { allSeen: true, runtimeSeen: true });
    expect(removals(after(1_000, withLeftovers, [[0, bookWith('1')]], false))).toEqual([]);
    expect(removals(after(1_000, withLeftovers, [[0, complete]], true))).toEqual([]);
    expect(removals(after(1_000, withLeftovers, [[0, complete]], false))).toEqual([
      'remove /kubepods/podgone ifEmpty',
      'remove /kubepods/burstable/podbusy ifEmpty',
      'told: leftover cgroup /kubepods/burstable/podbusy: EBUSY',
    ]);
  });

  it('sets nothing of the cgroups of QoS classes but their weight', () => {
    const given: unknown[] = [];
    const noting = (log: string[]): Cgroups => ({
      ...recorded(log),
      apply: (path, limits) => {
        if (path !== '/kubepods') given.push([path, limits]);
        return of('set');
      },
    });
    after(1_000, noting, [[0, bookWith('1')]]);
    expect(given.slice(0, 2)).toEqual([
      ['/kubepods/burstable', { cpuShares: 1_024 }],
      ['/kubepods/besteffort', { cpuShares: 2 }],
    ]);
  });

  it('goes on after what could not be set', () => {
    const forbidden = (log: string[]): Cgroups => ({
      ...recorded(log),
      apply: (path) => throwError(() => new Error(`EROFS ${path}`)),
    });
    expect(after(1_000, forbidden, [[0, bookWith('1')]])).toHaveLength(4);
  });
});
