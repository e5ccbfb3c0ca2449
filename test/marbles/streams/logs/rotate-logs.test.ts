import { concat, defer, filter, map, merge, of, take, takeUntil, tap, throwError, timer, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { PodUid } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import { rotateLogs } from '../../../../src/streams/logs/rotate-logs.ts';
import type { LogFiles } from '../../../../src/streams/ports/log-files.ts';
import { observed } from '../../fakes.ts';

const EMPTY = emptyBook({ runtimeName: 'fake', hostIps: [], update: 'prepare', statuses: new Map() });
const FOLDER = '/logs/default_web_u/c';
const CONFIG = { paths: { podLogsDir: '/logs' }, maxBytes: 1_000, maxFiles: 5, monitorInterval: 10_000, maxWorkers: 1 };

function bookWith(attempt: number, state: 'running' | 'exited' = 'running'): PodBook {
  const uid = 'u' as PodUid;
  const container = { id: `c${attempt}`, name: 'c', attempt, state } as never;
  const of = { uid, name: 'web', namespace: 'default' };
  const entry = { uid, of, observed: observed({ uid, containers: [container] }) } as unknown as Entry;
  return { ...EMPTY, entries: new Map([[uid, entry]]) };
}

/** A disk in virtual time: one log that grows, and what was done to it. */
interface Disk {
  readonly files: LogFiles;
  readonly log: string[];
  readonly names: () => readonly string[];
}

/** `rate`: bytes per millisecond, from the first look on. */
function disk(now: () => number, rate: (time: number) => number, begins = '0.log'): Disk {
  const sizes = new Map<string, number>([[begins, 0]]);
  const log: string[] = [];
  let last = 0;
  function grow(): void {
    for (; last < now(); last++) {
      const file = [...sizes.keys()].filter((name) => /^\d+\.log$/.test(name)).at(-1);
      if (file !== undefined) sizes.set(file, (sizes.get(file) ?? 0) + rate(last));
    }
  }
  const name = (path: string): string => path.slice(FOLDER.length + 1);
  const act = (what: string, effect: () => void) =>
    defer(() => {
      grow();
      log.push(`${now()} ${what}`);
      effect();
      return of(undefined);
    });
  const files: LogFiles = {
    size: (path) =>
      defer(() => {
        grow();
        return of(sizes.get(name(path)));
      }),
    changedFrom: (path, bytes) =>
      timer(0, 1).pipe(
        tap(grow),
        filter(() => sizes.get(name(path)) !== bytes),
        take(1),
        map(() => undefined),
      ),
    sizes: () => defer(() => of([...sizes].map(([file, bytes]) => ({ file, bytes })))),
    rename: (from, to) =>
      act(`rename ${name(from)} (${sizes.get(name(from)) ?? 0})`, () => {
        sizes.set(name(to), sizes.get(name(from)) ?? 0);
        sizes.delete(name(from));
        sizes.set(name(from), 0);
      }),
    remove: (path) => act(`remove ${name(path)}`, () => sizes.delete(name(path))),
    compress: (path) =>
      concat(
        timer(300).pipe(map(() => undefined)),
        act(`compressed ${name(path)}`, () => {
          sizes.set(`${name(path)}.gz`, 10);
          sizes.delete(name(path));
        }),
      ),
    keepEnd: (path, bytes) => act(`cut ${name(path)}`, () => sizes.set(name(path), bytes)),
  };
  return { files, log, names: () => [...sizes.keys()] };
}

interface Run {
  readonly log: readonly string[];
  readonly names: readonly string[];
}

function run(
  time: number,
  books: readonly (readonly [at: number, book: PodBook])[],
  rate: (time: number) => number,
  {
    reopen = () => of(undefined),
    change = (files) => files,
  }: {
    readonly reopen?: () => Observable<undefined>;
    readonly change?: (files: LogFiles, log: string[]) => LogFiles;
  } = {},
): Run {
  const scheduler = new TestScheduler(() => undefined);
  let made: Disk | undefined;
  scheduler.run(({ flush }) => {
    const { files, log, names } = disk(() => scheduler.now(), rate);
    made = { files, log, names };
    const book$ = merge(...books.map(([at, book]) => timer(at).pipe(map(() => book))));
    const cri = {
      reopenContainerLog: ({ containerId = '' }) =>
        defer(() => {
          log.push(`${scheduler.now()} reopen ${containerId}`);
          return reopen();
        }),
    };
    rotateLogs(book$, { files: change(files, log), cri }, CONFIG)
      .pipe(takeUntil(timer(time)))
      .subscribe({
        next: ({ ok, path, message }) =>
          log.push(`${scheduler.now()} ${ok ? 'ok' : 'NOT'} ${path.slice(FOLDER.length + 1)} ${message}`),
        error: (error: unknown) => log.push(String(error)),
      });
    flush();
  });
  return { log: made?.log ?? [], names: made?.names() ?? [] };
}

describe('rotateLogs', () => {
  it('rotates a log when it is full, and looks at a fast one in time', () => {
    const { log } = run(1_500, [[0, bookWith(0)]], () => 1);
    // 1000 bytes after 1000 ms: the looks come closer and closer to that.
    expect(log.slice(0, 3)).toEqual([
      expect.stringMatching(/^10\d\d(\.\d+)? rename 0\.log \(10\d\d\)$/),
      expect.stringMatching(/^10\d\d(\.\d+)? reopen c0$/),
      expect.stringMatching(/^10\d\d(\.\d+)? ok 0\.log rotated$/),
    ]);
  });

  it('lets a writer that suddenly begins to write pass the limit by little more than what one look misses', () => {
    // Quiet for half a minute, then 20 bytes each millisecond: a limit's worth in 50 ms.
    const { log } = run(40_000, [[0, bookWith(0)]], (time) => (time < 30_000 ? 0 : 20));
    const sizes = log.flatMap((line) => /rename .*\((\d+)\)/.exec(line)?.[1] ?? []).map(Number);
    expect(sizes.length).toBeGreaterThan(50);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(20 * 110);
  });

  it.each([
    ['looks at a log that nobody writes to no more than once a minute', 12, (files: LogFiles) => files],
    [
      'looks at one that cannot be watched every five seconds',
      125,
      (files: LogFiles) => ({ ...files, changedFrom: () => throwError(() => new Error('no watches left')) }),
    ],
  ])('%s', (_, most, changed) => {
    let looks = 0;
    run(600_000, [[0, bookWith(0)]], () => 0, {
      change: (files) => ({
        ...changed(files),
        size: (path) =>
          defer(() => {
            looks += 1;
            return files.size(path);
          }),
      }),
    });
    expect(looks).toBeGreaterThan(most / 2);
    expect(looks).toBeLessThanOrEqual(most);
  });

  it('compresses one at a time, and rotates on meanwhile', () => {
    const { log, names } = run(6_000, [[0, bookWith(0)]], () => 1);
    expect(log.some((line) => line.includes('compressed 0.log.'))).toBe(true);
    expect(names.length).toBeLessThanOrEqual(CONFIG.maxFiles + 1);
    expect(log.filter((line) => line.includes('NOT'))).toEqual([]);
  });

  it('asks again for a log that is missing', () => {
    const { log } = run(500, [[0, bookWith(1)]], () => 0);
    expect(log).toEqual(['0 reopen c1']);
  });

  it('gives the log its name back where the runtime does not let go of it, and tries again later', () => {
    let renamed = 0;
    const { log } = run(30_000, [[0, bookWith(0)]], () => 1, {
      reopen: () => throwError(() => new Error('busy')),
      change: (files) => ({
        ...files,
        rename: () =>
          defer(() => {
            renamed += 1;
            return of(undefined);
          }),
        size: (path) => defer(() => (renamed % 2 === 1 ? of(undefined) : files.size(path))),
      }),
    });
    expect(log.filter((line) => line.includes('NOT 0.log not rotated: busy')).length).toBeGreaterThan(1);
    expect(renamed % 2).toBe(0);
  });

  it('finds nothing wrong where the container has ended before anybody knew', () => {
    const { log } = run(3_000, [[0, bookWith(0)]], () => 1, {
      reopen: () => throwError(() => new Error('container is not running')),
    });
    expect(log.some((line) => line.includes('reopen c0'))).toBe(true);
    expect(log.filter((line) => / NOT | ok /.test(line))).toEqual([]);
  });

  it('looks through the folder as soon as another instance has begun, and lets go of a pod that is gone', () => {
    const looked: number[] = [];
    const scheduler = new TestScheduler(() => undefined);
    scheduler.run(({ flush }) => {
      const { files } = disk(
        () => scheduler.now(),
        () => 0,
        '1.log',
      );
      const counted: LogFiles = {
        ...files,
        sizes: (folder) =>
          defer(() => {
            looked.push(scheduler.now());
            return files.sizes(folder);
          }),
      };
      const books = [
        [0, bookWith(1)],
        [5_000, bookWith(2)],
        [9_000, EMPTY],
      ] as const;
      const book$ = merge(...books.map(([at, book]) => timer(at).pipe(map(() => book))));
      rotateLogs(book$, { files: counted, cri: { reopenContainerLog: () => of(undefined) } }, CONFIG)
        .pipe(takeUntil(timer(60_000)))
        .subscribe({ error: (error: unknown) => looked.push(Number(error)) });
      flush();
    });
    expect(looked).toEqual([0, expect.closeTo(5_000, -3.1)]);
  });
});
