import { asyncScheduler, defer, map, NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired } from '../../../../src/model/desired.ts';
import type { FileMemory } from '../../../../src/sources/file/file-memory.ts';
import { manifestStream } from '../../../../src/sources/file/manifest-stream.ts';
import type { ManifestScan } from '../../../../src/sources/file/scan-manifests.ts';
import { marbles } from '../../harness.ts';

const CONFIG = { path: '/m', nodeName: 'n1', fileCheckFrequency: 100 };

/** A scan of one file that runs one pod with this image. */
function seen(image: string, unsettled = false): ManifestScan {
  const text = `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;
  return { kind: 'read', files: [{ path: '/m/web.yaml', inode: 1n, content: { text } }], unsettled };
}

const SCANS: Readonly<Record<string, ManifestScan>> = {
  a: seen('a:1'),
  b: seen('b:1'),
  c: seen('c:1'),
  u: seen('a:1', true),
};

/** What is wanted, in one word: the first letter of the image, and `!` for each problem; `?` where it is unheard. */
function brief({ pods, problems, unheard }: Desired): string {
  return `${unheard ? '?' : (pods[0]?.spec.containers[0]?.image?.[0] ?? '-')}${'!'.repeat(problems.length)}`;
}

/** One scan after the other, each taking a frame; the last one again and again. */
function scans(order: string, started: (frame: number) => void = () => undefined): () => Observable<ManifestScan> {
  let index = 0;
  return () =>
    defer(() => {
      started(index);
      const scan = SCANS[order[Math.min(index, order.length - 1)] ?? 'a'];
      index += 1;
      return scan ? of(scan) : throwError(() => new Error('no such scan'));
    });
}

describe('manifestStream', () => {
  it(
    'looks on every hint and now and then, and emits only what changed',
    marbles(({ hot, expectObservable }) => {
      const watch$ = hot('  --x-x----------------x----');
      // scan                a-b-b-------b--------c----
      const unsub = '        --------------------------!';
      const expected = '     A-B------------------C----';
      const order = 'abbbc';
      const source$ = manifestStream(
        { ...CONFIG, fileCheckFrequency: 12 },
        { watch: () => watch$, scan: scans(order) },
      );
      expectObservable(briefly(source$), unsub).toBe(expected, { A: 'a', B: 'b', C: 'c' });
    }),
  );

  it(
    'never looks twice at once, and looks once more for all the hints that came meanwhile',
    marbles(({ hot, cold, expectObservable, flush }) => {
      let looks = 0;
      const watch$ = hot('-xxxxx--------');
      const scan = (): Observable<ManifestScan> =>
        defer(() => {
          looks += 1;
          return cold('-----(s|)', { s: SCANS[looks === 1 ? 'a' : 'b'] ?? seen('') });
        });
      expectObservable(briefly(manifestStream(CONFIG, { watch: () => watch$, scan })), '--------------!').toBe(
        '-----A----B',
        { A: 'a', B: 'b' },
      );
      flush();
      expect(looks).toBe(2);
    }),
  );

  it(
    'looks again soon while a file may be half written',
    marbles(({ expectObservable }) => {
      const source$ = manifestStream(CONFIG, { watch: () => NEVER, scan: scans('uub') });
      expectObservable(briefly(source$), '60ms !').toBe('A 39ms B', { A: 'a', B: 'b' });
    }),
  );

  it(
    'goes on looking now and then while it cannot watch, says so, and watches anew with a growing delay',
    marbles(({ cold, expectObservable, flush }) => {
      const attempts: number[] = [];
      let count = 0;
      const watch = (): Observable<unknown> =>
        defer(() => {
          count += 1;
          attempts.push(count);
          return count < 4 ? throwError(() => new Error('ENOSPC')) : cold('r');
        });
      const source$ = manifestStream({ ...CONFIG, fileCheckFrequency: 10_000 }, { watch, scan: scans('abbbb') });
      // The watch fails at 0, 1 s and 3 s and stands at 7 s; its first hint shows the change.
      expectObservable(briefly(source$), '8s !').toBe('A 6999ms (BC)', { A: 'a!', B: 'a', C: 'b' });
      flush();
      expect(attempts).toHaveLength(4);
    }),
  );

  it('watches anew after 1 s, then after twice as long each time, at most 20 s', () => {
    const attempts: number[] = [];
    marbles(({ expectObservable }) => {
      const watch = (): Observable<unknown> =>
        defer(() => {
          attempts.push(asyncScheduler.now());
          return throwError(() => new Error('ENOSPC'));
        });
      const source$ = manifestStream({ ...CONFIG, fileCheckFrequency: 100_000 }, { watch, scan: scans('a') });
      expectObservable(briefly(source$), '72s !').toBe('A', { A: 'a!' });
    })();
    expect(attempts).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 51_000, 71_000]);
  });

  it(
    'says nothing of what is wanted while it has not been able to look and remembers nothing',
    marbles(({ hot, expectObservable }) => {
      const watch$ = hot('-x-x-x');
      expectObservable(briefly(manifestStream(CONFIG, { watch: () => watch$, scan: scans('xxax') })), '------!').toBe(
        'U--A-F',
        { U: '?!', A: 'a', F: 'a!' },
      );
    }),
  );

  it(
    'survives a look that fails, keeping what it wanted',
    marbles(({ hot, expectObservable }) => {
      const watch$ = hot('-x-x');
      expectObservable(briefly(manifestStream(CONFIG, { watch: () => watch$, scan: scans('axb') })), '-----!').toBe(
        'AF-B',
        { A: 'a', F: 'a!', B: 'b' },
      );
    }),
  );

  it(
    'waits for its memory, and does without one that cannot be loaded',
    marbles(({ cold, expectObservable }) => {
      const store = (load$: Observable<FileMemory | undefined>) => ({ load: () => load$, save: () => of(undefined) });
      const start = (load$: Observable<FileMemory | undefined>): Observable<string> =>
        briefly(manifestStream(CONFIG, { watch: () => NEVER, scan: scans('a'), store: store(load$) }));
      expectObservable(start(cold('---(m|)', { m: undefined })), '10ms !').toBe('---A', { A: 'a' });
      expectObservable(start(cold('---#')), '10ms !').toBe('---A', { A: 'a' });
      expectObservable(start(cold('---|')), '10ms !').toBe('---A', { A: 'a' });
    }),
  );

  it(
    'saves what changed, only the newest while a save is under way, and says when it cannot',
    marbles(({ hot, cold, expectObservable, flush }) => {
      const saved: string[] = [];
      const save = (memory: FileMemory): Observable<undefined> =>
        defer(() => {
          saved.push(memory.files['/m/web.yaml']?.[0]?.spec.containers[0]?.image ?? '-');
          return saved.length === 1 ? cold<undefined>('-----(u|)', { u: undefined }) : cold<undefined>('--#');
        });
      const watch$ = hot('  -x-xx---------');
      const source$ = manifestStream(CONFIG, {
        watch: () => watch$,
        scan: scans('abbc'),
        store: { load: () => of(undefined), save },
      });
      expectObservable(briefly(source$), '14ms !').toBe('AB--C--D', { A: 'a', B: 'b', C: 'c', D: 'c!' });
      flush();
      expect(saved).toEqual(['a:1', 'c:1']);
    }),
  );
});

function briefly(source$: Observable<Desired>): Observable<string> {
  return source$.pipe(map(brief));
}
