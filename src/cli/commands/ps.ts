import {
  asyncScheduler,
  catchError,
  combineLatest,
  defer,
  distinctUntilChanged,
  map,
  of,
  repeat,
  scan,
  switchMap,
  take,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import type { NodeView } from '../../streams/view/node-view.ts';
import type { PsOptions } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { drawInPlace, type Drawing } from './draw-in-place.ts';
import { renderTable } from './render-table.ts';
import { selectPods } from './select-pods.ts';
import { watchViews } from './watch-views.ts';
import { yamlText } from './yaml-text.ts';

/** Milliseconds between two tries to reach an agent that went away while it was watched. */
const RETRY = 1_000;
/** Milliseconds between two drawings of a table in which nothing but the ages has changed. */
const TICK = 1_000;

/**
 * `rxlet ps`: emits text for standard output. Completes after the first view, or with `--watch` never: then an agent
 * that goes away is waited for. Errors with a {@link CliError} where no agent answers to begin with.
 *
 * `terminal` is asked before each drawing, because its size may change.
 */
export function ps(options: PsOptions, terminal: () => Terminal): Observable<string> {
  const { socket, watch, format } = options;
  const view$ = watchViews(socket).pipe(map((view, index) => selectPods(view, options, index === 0)));
  if (!watch)
    return view$.pipe(
      take(1),
      switchMap((view) => (format === 'yaml' ? yamlText(view) : of(print(view, format, terminal())))),
    );
  if (format === 'yaml')
    return view$.pipe(
      switchMap(yamlText),
      map((text) => `---\n${text}`),
    );
  if (format === 'json') return view$.pipe(map((view) => `${JSON.stringify(view)}\n`));
  if (format === 'name') return view$.pipe(map((view) => `${print(view, format, terminal())}\n`));

  return defer(() =>
    terminal().interactive ? live(view$, format === 'wide', terminal) : scroll(view$, format, terminal),
  );
}

function print(view: NodeView, format: PsOptions['format'], terminal: Terminal): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(view, undefined, 2)}\n`;
    case 'name':
      return view.pods.map(({ pod: { metadata } }) => `${metadata.namespace}/${metadata.name}\n`).join('');
    default:
      return `${renderTable(view, asyncScheduler.now(), terminal, format === 'wide').join('\n')}\n`;
  }
}

/** Every change as a new table below the older ones. */
function scroll(
  view$: Observable<NodeView>,
  format: PsOptions['format'],
  terminal: () => Terminal,
): Observable<string> {
  return followed(view$).pipe(map(({ view, lost }) => (lost ? `${LOST}\n\n` : `${print(view, format, terminal())}\n`)));
}

/** One table that is drawn again in its place, ages ticking. */
function live(view$: Observable<NodeView>, wide: boolean, terminal: () => Terminal): Observable<string> {
  return combineLatest([followed(view$), timer(0, TICK)]).pipe(
    scan<readonly [Followed, number], Drawing, undefined>((before, [{ view, lost }]) => {
      const screen = terminal();
      const lines = [...(lost ? [LOST, ''] : []), ...renderTable(view, asyncScheduler.now(), screen, wide)];
      return drawInPlace(lines, screen, before);
    }, undefined),
    map(({ text }) => text),
  );
}

const LOST = 'The agent does not answer; trying again. This is what it said last:';

interface Followed {
  readonly view: NodeView;
  /** The agent has gone; this is its last view. */
  readonly lost: boolean;
}

/** The views of an agent, over its restarts. Errors only where the first try fails. */
function followed(view$: Observable<NodeView>): Observable<Followed> {
  return defer(() => {
    let last: NodeView | undefined;
    return view$.pipe(
      tap((view) => (last = view)),
      map((view) => ({ view, lost: false })),
      catchError((error: unknown) => {
        if (!last) throw error;
        return of({ view: last, lost: true });
      }),
      repeat({ delay: RETRY }),
      scan((earlier, now) => (earlier.lost && now.lost ? earlier : now)),
      distinctUntilChanged(),
    );
  });
}
