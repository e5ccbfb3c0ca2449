import { asyncScheduler, defer, map, NEVER, of, throwError, timer, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Desired } from '../../../../src/model/desired.ts';
import type { FileMemory } from '../../../../src/sources/file/file-memory.ts';
import type { HttpAnswer, Validators } from '../../../../src/sources/http/http-answer.ts';
import { httpStream, type HttpStreamConfig } from '../../../../src/sources/http/http-stream.ts';
import { marbles } from '../../harness.ts';

const CONFIG: HttpStreamConfig = {
  url: 'http://m/pods',
  nodeName: 'n1',
  httpCheckFrequency: 4,
  timeout: 10_000,
  firstRetry: 1,
};

function pod(image: string): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;
}

function good(text: string, validators: Validators = {}): HttpAnswer {
  return { status: 200, validators, body: new TextEncoder().encode(text) };
}

const ANSWERS: Readonly<Record<string, HttpAnswer>> = {
  a: good(pod('a:1')),
  b: good(pod('b:1')),
  h: good('<html>so sorry</html>'),
  m: good('kind: "Pod\n'),
  n: good('{"apiVersion": "v1", "kind": "PodList", "items": []}'),
  4: { status: 404, validators: {}, body: new Uint8Array() },
  '=': { status: 304, validators: {}, body: new Uint8Array() },
};

/** Answers in this order, at once; `#`: a connection that is refused. The last one again and again. */
function answers(order: string, asked: (known: Validators) => void = () => undefined) {
  let index = 0;
  return (known: Validators): Observable<HttpAnswer> =>
    defer(() => {
      asked(known);
      const answer = ANSWERS[order[Math.min(index, order.length - 1)] ?? '#'];
      index += 1;
      return answer ? of(answer) : throwError(() => new Error('refused'));
    });
}

/** What is wanted, in one word: the first letter of the image, `!` for each problem; `?` where it is unheard. */
function brief({ pods, problems, unheard }: Desired): string {
  return `${unheard ? '?' : (pods[0]?.spec.containers[0]?.image?.[0] ?? '-')}${'!'.repeat(problems.length)}`;
}

const late = (): number => 1;

describe('httpStream', () => {
  it(
    'asks now and then, sooner after a failure, and keeps what it knows',
    marbles(({ expectObservable }) => {
      // answers           a---##-#---a---b---
      const expected = '   A---F------A---B---';
      const unsub = '      -------------------!';
      const source$ = httpStream(CONFIG, { fetch: answers('a###ab'), random: late });
      expectObservable(source$.pipe(map(brief)), unsub).toBe(expected, { A: 'a', F: 'a!', B: 'b' });
    }),
  );

  it.each([
    { chance: 1, times: [0, 1_000, 3_000, 7_000, 15_000, 31_000, 51_000] },
    { chance: 0, times: [0, 500, 1_500, 3_500, 7_500, 15_500, 25_500] },
  ])(
    'waits twice as long after each failure, at most the period, and down to half of that by chance ($chance)',
    ({ chance, times }) => {
      const asked: number[] = [];
      marbles(({ expectObservable }) => {
        const source$ = httpStream(
          { ...CONFIG, httpCheckFrequency: 20_000, firstRetry: 1_000 },
          { fetch: answers('#', () => asked.push(asyncScheduler.now())), random: () => chance },
        );
        expectObservable(source$.pipe(map(brief)), `${(times.at(-1) ?? 0) + 1}ms !`).toBe('?', { '?': '?!' });
      })();
      expect(asked).toEqual(times);
    },
  );

  it(
    'gives up an answer that is not complete in time, and never asks twice at once',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const slow$ = cold<HttpAnswer>('20s a');
      const source$ = httpStream(
        { ...CONFIG, httpCheckFrequency: 2_000, firstRetry: 2_000 },
        { fetch: () => slow$, random: late },
      );
      expectObservable(source$.pipe(map(({ problems }) => problems.map(({ message }) => message))), '25s !').toBe(
        '10s t',
        { t: ['there is no complete answer within 10 s'] },
      );
      expectSubscriptions(slow$.subscriptions).toBe(['^ 9999ms !', '12s ^ 9999ms !', '24s ^ 999ms !']);
    }),
  );

  it(
    'is unheard until something is known: no failure and no nonsense says that nothing is wanted',
    marbles(({ expectObservable }) => {
      // answers     ##-4hm---n---a
      const source$ = httpStream({ ...CONFIG, httpCheckFrequency: 2 }, { fetch: answers('#4hmna'), random: late });
      // asked at      0 1 3 5 7 9 11
      expectObservable(source$.pipe(map(brief)), '------------!').toBe('F4-h-m-n-a--', {
        F: '?!',
        4: '?!',
        h: '?!',
        m: '?!',
        n: '-',
        a: 'a',
      });
    }),
  );

  it(
    'keeps the last good pods over web pages, broken manifests and errors, and lets go of them when a list is empty',
    marbles(({ expectObservable }) => {
      const source$ = httpStream(
        { ...CONFIG, httpCheckFrequency: 2, firstRetry: 2 },
        { fetch: answers('ah4m#an'), random: late },
      );
      expectObservable(source$.pipe(map(brief)), '--------------!').toBe('a-h-4-m-e-a-n-', {
        a: 'a',
        h: 'a!',
        4: 'a!',
        m: 'a!',
        e: 'a!',
        n: '-',
      });
    }),
  );

  it(
    'says what it knows, and takes that nothing has changed for what it knew, over a failure too',
    marbles(({ expectObservable, flush }) => {
      const known: Validators[] = [];
      const first = good(pod('a:1'), { etag: '"1"' });
      const order = [first, ANSWERS['4'], ANSWERS['='], good(pod('b:1'), { lastModified: 'yesterday' }), ANSWERS['=']];
      const fetch = (validators: Validators): Observable<HttpAnswer> => {
        known.push(validators);
        return of(order[known.length - 1] ?? first);
      };
      const source$ = httpStream({ ...CONFIG, httpCheckFrequency: 1 }, { fetch, random: late });
      expectObservable(source$.pipe(map(brief)), '-----!').toBe('aFab', { a: 'a', F: 'a!', b: 'b' });
      flush();
      expect(known).toEqual([{}, { etag: '"1"' }, { etag: '"1"' }, { etag: '"1"' }, { lastModified: 'yesterday' }]);
    }),
  );

  it('begins with what it remembers when the server is away, and remembers only what it has heard', () => {
    const saved: FileMemory[] = [];
    const told = (order: string, kept: FileMemory | undefined, expected: string): void => {
      const store = {
        load: () => timer(1).pipe(map(() => kept)),
        save: (memory: FileMemory) => {
          saved.push(memory);
          return of(undefined);
        },
      };
      marbles(({ expectObservable }) => {
        expectObservable(
          httpStream(CONFIG, { fetch: answers(order), random: late, store }).pipe(map(brief)),
          '------!',
        ).toBe(expected, { u: '?!', a: 'a', F: 'a!', n: '-' });
      })();
    };

    told('#', undefined, '-u');
    expect(saved).toEqual([]);
    told('a', undefined, '-a');
    expect(saved.map(({ files }) => Object.keys(files))).toEqual([['http://m/pods']]);
    told('##n', saved[0], '-F--n');
  });

  it(
    'tells a failure with the URL and the cause, and its pods as pods from http',
    marbles(({ expectObservable }) => {
      const source$ = httpStream({ ...CONFIG, url: 'http://m/x' }, { fetch: answers('a4'), random: late });
      expectObservable(
        source$.pipe(map(({ source, pods, problems }) => [source, pods[0]?.metadata.annotations, problems])),
        '-----!',
      ).toBe('A---F', {
        A: ['http', expect.objectContaining({ 'kubernetes.io/config.source': 'http' }), []],
        F: [
          'http',
          expect.anything(),
          [{ source: 'http', origin: 'http://m/x', message: 'the server answers 404 Not Found' }],
        ],
      });
    }),
  );

  it(
    'cancels the question when it is unsubscribed from',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const never$ = cold<HttpAnswer>('-');
      expectObservable(httpStream(CONFIG, { fetch: () => never$, random: late }), '---!');
      expectSubscriptions(never$.subscriptions).toBe('^--!');
      expectObservable(httpStream(CONFIG, { fetch: () => NEVER, random: late }), '---!').toBe('');
    }),
  );
});
