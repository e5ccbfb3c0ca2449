import { EMPTY, map, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  housekeeping,
  type HousekeepingNote,
  type HousekeepingPorts,
} from '../../../../src/streams/housekeeping/housekeeping.ts';
import type { Files } from '../../../../src/streams/ports/files.ts';
import { DEAF, type Measured } from '../../../../src/streams/ports/meter.ts';
import { fakeFiles } from '../../fakes.ts';
import { marbles } from '../../harness.ts';
import { unexpected } from '../../operators/unexpected.ts';

const PATHS = { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' };

interface World {
  readonly log?: string[];
  /** Names by directory. */
  readonly disk?: Readonly<Record<string, readonly string[]>>;
  readonly files?: Partial<Files>;
  readonly ports?: Partial<HousekeepingPorts>;
}

/** A node on which every source was heard and nobody knows any pod. */
function ports({ log = [], disk = {}, files = {}, ports: more = {} }: World): HousekeepingPorts {
  return {
    files: fakeFiles(log, { list: (dir) => of(disk[dir] ?? []), ...files }),
    paths: PATHS,
    unmountVolumes: () => EMPTY,
    isKnown: () => false,
    isHeld: () => false,
    meter: DEAF,
    complete$: of(true),
    ...more,
  };
}

const isRemoval = (call: string): boolean => call.startsWith('remove');
const letters = (note$: Observable<HousekeepingNote>): Observable<string> =>
  note$.pipe(map(({ ok }) => (ok ? 'w' : 'x')));

describe('housekeeping', () => {
  it(
    'removes nothing before it is known who wants what (the diagram of its doc comment)',
    marbles(({ cold, hot, expectObservable }) => {
      const rounds: readonly (readonly string[])[] = [['a', 'b'], ['c']];
      const complete$ = hot('---c--------------------');
      const expected = '     ---ww--------w----------';
      let round = 0;
      const world = ports({
        files: {
          list: (dir) => of(dir === '/root/pods' ? (rounds[round++] ?? []) : []),
          removeTree: (path) => cold(path.endsWith('b') ? '-(u|)' : '(u|)'),
        },
        ports: { complete$ },
      });
      expectObservable(letters(housekeeping(world, 10)), '^ 23ms !').toBe(expected);
    }),
  );

  it(
    'removes folders and logs of pods that nobody knows, and no others',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const disk = {
        '/root/pods': ['gone', 'known'],
        '/logs': ['default_web_gone', 'default_web_known', 'somebody-elses'],
      };
      const world = ports({ log, disk, ports: { isKnown: (uid) => uid === 'known' } });
      expectObservable(housekeeping(world, 10), '^----!').toBe('(ab)', {
        a: { ok: true, path: '/root/pods/gone', message: 'removed what a pod had left' },
        b: { ok: true, path: '/logs/default_web_gone', message: 'removed what a pod had left' },
      });
      flush();
      expect(log.filter(isRemoval)).toEqual(['removeTree /root/pods/gone', 'removeTree /logs/default_web_gone']);
    }),
  );

  it(
    'measures each search for folders: how many there were, and how many are still there',
    marbles(({ cold, expectObservable, flush }) => {
      const measured: Measured[] = [];
      const rounds: readonly (readonly string[])[] = [['gone', 'stuck', 'known'], ['stuck']];
      let round = 0;
      const world = ports({
        files: {
          list: (dir) => of(dir === '/root/pods' ? (rounds[round++] ?? []) : []),
          removeTree: (path) => (path.endsWith('stuck') ? cold('--#') : cold('-(u|)')),
        },
        ports: { isKnown: (uid) => uid === 'known', meter: (one) => measured.push(one) },
      });
      expectObservable(letters(housekeeping(world, 10)), '^ 15ms !').toBe('-w-x');
      flush();
      expect(measured).toEqual([
        { kind: 'sweep', found: 2, failed: 1, took: 3 },
        { kind: 'sweep', found: 1, failed: 1, took: 2 },
      ]);
    }),
  );

  it(
    'asks again before each removal whether the pod is known by now',
    marbles(({ cold, expectObservable, flush }) => {
      const log: string[] = [];
      const known = new Set<string>();
      const world = ports({
        log,
        disk: { '/root/pods': ['slow', 'new'], '/logs': ['default_web_new'] },
        files: { removeTree: () => cold('-----(u|)') },
        ports: { isKnown: (uid) => known.has(uid) },
      });
      expectObservable(letters(housekeeping(world, 100)), '^ 50ms !').toBe('-----w');
      cold('--(n|)').subscribe({ next: () => known.add('new'), error: unexpected });
      flush();
      expect(log.filter(isRemoval)).toEqual(['removeTree /root/pods/slow']);
    }),
  );

  it(
    'unmounts the volumes of a pod before its folder, and leaves the folder when they do not go',
    marbles(({ cold, expectObservable, flush }) => {
      const log: string[] = [];
      const unmountVolumes: HousekeepingPorts['unmountVolumes'] = (uid) =>
        uid === 'busy' ? throwError(() => new Error('target is busy')) : cold('---|');
      const world = ports({ log, disk: { '/root/pods': ['busy', 'free'] }, ports: { unmountVolumes } });
      expectObservable(housekeeping(world, 100), '^ 50ms !').toBe('x--w', {
        x: { ok: false, path: '/root/pods/busy', message: 'target is busy' },
        w: { ok: true, path: '/root/pods/free', message: 'removed what a pod had left' },
      });
      flush();
      expect(log.filter(isRemoval)).toEqual(['removeTree /root/pods/free']);
    }),
  );

  it(
    'leaves what has something mounted below, says so, and goes on with the rest',
    marbles(({ expectObservable }) => {
      const removeTree: Files['removeTree'] = (path) =>
        path.endsWith('busy') ? throwError(() => new Error('EBUSY: something is mounted')) : of(undefined);
      const world = ports({ disk: { '/root/pods': ['busy', 'free'] }, files: { removeTree } });
      expectObservable(housekeeping(world, 10), '^----!').toBe('(xw)', {
        x: { ok: false, path: '/root/pods/busy', message: 'EBUSY: something is mounted' },
        w: { ok: true, path: '/root/pods/free', message: 'removed what a pod had left' },
      });
    }),
  );

  it(
    'user-asks 67: says once what is in the way, again when it is something else, and removes it when nothing is',
    marbles(({ expectObservable }) => {
      const messages = ['mounted', 'mounted', 'mounted', 'busy', 'busy', ''];
      let round = 0;
      const removeTree: Files['removeTree'] = () => {
        const message = messages[round++] ?? '';
        return message === '' ? of(undefined) : throwError(() => new Error(message));
      };
      const world = ports({ disk: { '/root/pods': ['left'] }, files: { removeTree } });
      expectObservable(housekeeping(world, 10), '^ 55ms !').toBe('m 29ms b 19ms w', {
        m: { ok: false, path: '/root/pods/left', message: 'mounted' },
        b: { ok: false, path: '/root/pods/left', message: 'busy' },
        w: { ok: true, path: '/root/pods/left', message: 'removed what a pod had left' },
      });
    }),
  );

  it(
    'removes links to logs that are gone, but nothing that is no link or leads somewhere',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const targets: Readonly<Record<string, string>> = { '/links/dead': '/logs/gone', '/links/live': '/logs/here' };
      const world = ports({
        log,
        disk: { '/links': ['dead', 'file', 'live'] },
        files: {
          readLink: (path) => of(targets[path]),
          typeOf: (path) => of(path === '/logs/here' ? 'file' : 'missing'),
        },
      });
      expectObservable(housekeeping(world, 10), '^----!').toBe('w', {
        w: { ok: true, path: '/links/dead', message: 'removed a log link to nowhere' },
      });
      flush();
      expect(log.filter(isRemoval)).toEqual(['removeFile /links/dead']);
    }),
  );

  it(
    'does not look where links lead to whose containers the runtime holds',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const looked: string[] = [];
      const world = ports({
        log,
        disk: { '/links': ['web_default_app-0a.log', 'web_default_app-0b.log'] },
        files: {
          readLink: (path) => {
            looked.push(path);
            return of('/logs/gone');
          },
          typeOf: () => of('missing'),
        },
        ports: { isHeld: (containerId) => containerId === '0a' },
      });
      expectObservable(letters(housekeeping(world, 10)), '^----!').toBe('w');
      flush();
      expect(looked).toEqual(['/links/web_default_app-0b.log']);
      expect(log.filter(isRemoval)).toEqual(['removeFile /links/web_default_app-0b.log']);
    }),
  );

  it(
    'survives a folder that it cannot read, and tries it again at the next tick',
    marbles(({ expectObservable }) => {
      let isBroken = true;
      const list: Files['list'] = (dir) => {
        if (dir !== '/root/pods') return of([]);
        if (!isBroken) return of(['gone']);
        isBroken = false;
        return throwError(() => new Error('EIO'));
      };
      expectObservable(letters(housekeeping(ports({ files: { list } }), 10)), '^ 15ms !').toBe('----------w');
    }),
  );

  it(
    'skips ticks while it is still at work, and stops at once when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const removal = cold<undefined>('-------------|');
      const world = ports({ disk: { '/root/pods': ['a'] }, files: { removeTree: () => removal } });
      expectObservable(housekeeping(world, 10), '^ 21ms !').toBe('-');
      expectSubscriptions(removal.subscriptions).toBe(['^------------!', '--------------------^-!']);
    }),
  );
});
