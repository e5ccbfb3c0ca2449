import { catchError, EMPTY, mergeMap, Subject, type Observable } from 'rxjs';
import type { TimedLine } from '../recording/line.ts';
import { valueWriter } from '../recording/value-writer.ts';
import { differences } from './differences.ts';

/** A work or a look that goes on. */
export interface Asker {
  readonly pod: string;
  /** What it does, for people. */
  readonly doing: string;
}

/** Something that the agent asks of the world now, and that waits for what the recording says of it. */
export interface Ask {
  readonly to: string;
  readonly args: readonly unknown[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Who asks, as far as it is known. */
  readonly of: Asker | undefined;
  readonly answer: Subject<unknown>;
  /** Nobody waits for it any more. */
  isOver: boolean;
}

/** What is asked now, and the calls of the recording that it was found to be. */
export interface Asks {
  readonly add: (ask: Ask) => void;
  /** What the recording has not come to yet. */
  readonly open: () => readonly Ask[];
  /** Takes what is the same as a call of the recording for that call; whether there is such a one. */
  readonly match: (n: number, to: string, args: unknown) => boolean;
  /** Lets come of a call what came of it; tells before whose it is. */
  readonly play: (
    line: AnswerLine,
    read: (written: unknown) => unknown,
    goesOn: (of: Asker | undefined) => void,
  ) => void;
  readonly askerOf: (n: number) => Asker | undefined;
  /** Has to be subscribed to for questions to be asked that a question has left open. */
  readonly wanted$: Observable<unknown>;
}

export type AnswerLine = Extract<TimedLine, { readonly k: 'answer' | 'error' | 'done' | 'dropped' | 'wants' }>;

export function asksOf(): Asks {
  const asks: Ask[] = [];
  const calls = new Map<number, Ask>();
  const wants = new Subject<Observable<unknown>>();
  const write = valueWriter({});
  const plain = (value: unknown): unknown => JSON.parse(write(value) ?? 'null') as unknown;

  return {
    add: (ask) => asks.push(ask),
    open: () => asks,
    match: (n, to, args) => {
      const text = write(args);
      const index = asks.findIndex(
        (ask) => ask.to === to && (write(ask.args) === text || differences(plain(args), plain(ask.args)).length === 0),
      );
      const [ask] = index < 0 ? [] : asks.splice(index, 1);
      if (ask) calls.set(n, ask);
      return ask !== undefined;
    },
    play: (line, read, goesOn) => {
      const ask = calls.get(line.n);
      if (line.k === 'error' || line.k === 'done' || line.k === 'dropped') calls.delete(line.n);
      if (!ask || ask.isOver) return;
      switch (line.k) {
        case 'answer':
          goesOn(ask.of);
          ask.answer.next(read(line.value));
          return;
        case 'error':
          goesOn(ask.of);
          ask.answer.error(read(line.error));
          return;
        case 'done':
          goesOn(ask.of);
          ask.answer.complete();
          return;
        case 'wants': {
          const open$ = openIn(ask.args);
          if (open$) wants.next(open$);
          return;
        }
        case 'dropped':
      }
    },
    askerOf: (n) => calls.get(n)?.of,
    wanted$: wants.pipe(mergeMap((open$) => open$.pipe(catchError(() => EMPTY)))),
  };
}

/** What the question of a call leaves open (`images.pull`, `images.status`). */
function openIn(args: readonly unknown[]): Observable<unknown> | undefined {
  for (const arg of args) {
    if (typeof arg !== 'object' || arg === null) continue;
    const of: object = 'pod' in arg && typeof arg.pod === 'object' && arg.pod ? arg.pod : arg;
    if ('sandbox$' in of) return of.sandbox$ as Observable<unknown>;
  }
  return undefined;
}
