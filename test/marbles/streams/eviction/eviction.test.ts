import { asyncScheduler, concat, defer, map, NEVER, of, takeUntil, throwError, timer, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it, vi } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import type { PodBook } from '../../../../src/streams/book/pod-book.ts';
import { eviction } from '../../../../src/streams/eviction/eviction.ts';
import type { LocalUsage } from '../../../../src/streams/ports/local-usage.ts';
import { book, instance, type PodSketch } from '../probes/books.ts';

const PATHS = { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' };
const SPEC: Pod['spec'] = {
  containers: [{ name: 'c' }],
  volumes: [
    { name: 'e', emptyDir: { sizeLimit: '100' } },
    { name: 'free', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory', sizeLimit: '1' } },
  ],
};
const HELD: Pod['spec'] = {
  initContainers: [{ name: 'i' }],
  containers: [{ name: 'c', resources: { limits: { 'ephemeral-storage': '100' } } }],
  volumes: SPEC.volumes?.slice(1) ?? [],
};
const E = '/root/pods/u/volumes/kubernetes.io~empty-dir/e';

interface Story {
  /** Seconds at which somebody looked, and what for. */
  readonly looks: readonly string[];
  readonly kills: readonly string[];
}

/** Lives for some seconds with what the disk says of a path at a time (seconds). */
function live(
  book$: Observable<PodBook>,
  seconds: number,
  bytes: (path: string, at: number) => number | Observable<number>,
  layers: LocalUsage['layers'] = () => of(new Map()),
): Story {
  const looks: string[] = [];
  const kills: string[] = [];
  const scheduler = new TestScheduler(() => undefined);
  scheduler.run(({ flush }) => {
    const now = (): number => scheduler.now() / 1_000;
    const usage: LocalUsage = {
      tree: (path) =>
        defer(() => {
          looks.push(`${now()} ${path}`);
          const found = bytes(path, now());
          return typeof found === 'number' ? of(found) : found;
        }),
      layers,
    };
    eviction(book$, { usage, paths: PATHS, monotonic: () => scheduler.now() })
      .pipe(takeUntil(timer(seconds * 1_000)))
      .subscribe({
        next: ({ uid, message }) => kills.push(`${now()} ${uid}: ${message}`),
        error: (error: unknown) => kills.push(String(error)),
      });
    flush();
  });
  return { looks, kills };
}

const always = (...pods: readonly PodSketch[]): Observable<PodBook> => concat(of(book(...pods)), NEVER);
const when = ({ looks }: Story): readonly number[] => looks.map((look) => Number(look.split(' ')[0]));

describe('eviction', () => {
  it('does what the diagram of its doc comment shows: looks the sooner, the sooner a limit will be reached', () => {
    const story = live(always({ spec: SPEC }), 20, (_path, at) => at * 10);
    expect(when(story)).toEqual([
      0, 1, 3, 6.5, 8.25, 9.25, 10.25, 11.25, 12.25, 13.25, 14.25, 15.25, 16.25, 17.25, 18.25, 19.25,
    ]);
    expect(story.kills[0]).toBe('10.25 u: Usage of EmptyDir volume "e" exceeds the limit "100". ');
  });

  it('goes on at its pace when the clock is set during a look', () => {
    let ahead = 0;
    const { now } = asyncScheduler;
    const clock = vi.spyOn(asyncScheduler, 'now').mockImplementation(() => now() + ahead);
    const story = live(always({ spec: SPEC }), 46, (_path, at) =>
      timer(10).pipe(
        map(() => {
          if (at > 1) ahead = 3_600_000;
          return 50;
        }),
      ),
    );
    clock.mockRestore();
    expect(when(story).map(Math.floor)).toEqual([0, 1, 3, 7, 15, 25, 35, 45]);
  });

  it('comes down to one look in 10 s at a pod that does not grow, and only at what has a limit', () => {
    const story = live(always({ spec: SPEC }), 46, () => 50);
    expect(when(story)).toEqual([0, 1, 3, 7, 15, 25, 35, 45]);
    expect(new Set(story.looks.map((look) => look.split(' ')[1]))).toEqual(new Set([E]));
    expect(story.kills).toEqual([]);
  });

  it.each<[string, PodSketch]>([
    ['has no limit', { spec: { containers: [{ name: 'c' }], volumes: [{ name: 'e', emptyDir: {} }] } }],
    ['has not begun', { spec: SPEC, phase: 'waiting' }],
    ['is being ended', { spec: SPEC, phase: 'terminating' }],
    ['has finished', { spec: SPEC, phase: 'finished' }],
  ])('does not look at a pod that %s', (_what, pod) => {
    expect(live(always(pod), 30, () => 1_000)).toEqual({ looks: [], kills: [] });
  });

  it('counts the logs of every container, writable layers and emptyDirs of the disk against the limit of a pod', () => {
    const seen = [instance('c1'), instance('c0', { state: 'exited' })];
    const layers = (sandbox: string): Observable<ReadonlyMap<string, number>> =>
      of(new Map(sandbox === 's' ? [['c1', 30] as const, ['c0', 500] as const] : []));
    const story = live(always({ spec: HELD, seen }), 0.5, () => 24, layers);
    expect(story.looks).toEqual([
      '0 /root/pods/u/volumes/kubernetes.io~empty-dir/free',
      '0 /logs/default_p_u/i',
      '0 /logs/default_p_u/c',
    ]);
    expect(story.kills).toEqual(['0 u: Pod ephemeral local storage usage exceeds the total limit of containers 100. ']);
  });

  it('leaves out what it cannot look at, and looks again', () => {
    const story = live(always({ spec: SPEC }), 5, (_path, at) => (at < 2 ? throwError(() => new Error('EIO')) : 101));
    expect(story.kills).toEqual([
      '3 u: Usage of EmptyDir volume "e" exceeds the limit "100". ',
      expect.stringMatching(/^4 u/),
    ]);
  });

  it('looks at one pod at a time, and rests nine times as long as a look took', () => {
    const slow = (): Observable<number> => timer(2_000).pipe(map(() => 1));
    const story = live(always({ uid: 'a', spec: SPEC }, { uid: 'b', spec: SPEC }), 25, slow);
    expect(when(story)).toEqual([0, 2, 20, 22]);
  });

  it('gives up a look that never ends, for the sake of the others', () => {
    const story = live(always({ uid: 'a', spec: SPEC }, { uid: 'b', spec: SPEC }), 61, (path) =>
      path.includes('/a/') ? NEVER : 101,
    );
    expect(story.kills).toEqual(['60 b: Usage of EmptyDir volume "e" exceeds the limit "100". ']);
  });

  it('ends a look at a pod that goes', () => {
    const book$ = concat(of(book({ spec: SPEC })), timer(500).pipe(map(() => book())), NEVER);
    const story = live(book$, 30, () => timer(1_000).pipe(map(() => 101)));
    expect(story).toEqual({ looks: [`0 ${E}`], kills: [] });
  });
});
