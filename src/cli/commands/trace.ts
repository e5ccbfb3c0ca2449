import {
  asyncScheduler,
  bufferTime,
  catchError,
  concatMap,
  defer,
  filter,
  from,
  map,
  of,
  scan,
  switchMap,
  throwError,
  toArray,
  type Observable,
} from 'rxjs';
import type { NodeView } from '../../streams/view/node-view.ts';
import type { TraceEvent } from '../../streams/trace/trace-event.ts';
import { CliError } from '../cli-error.ts';
import type { TraceOptions } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { askAgent, askLines, followAgent } from './ask-agent.ts';
import { drawInPlace, type Drawing } from './draw-in-place.ts';
import { drawMarbles } from './draw-marbles.ts';
import { findPod } from './find-pod.ts';
import { LOOKS, painter } from './paint.ts';
import { renderTrace } from './render-trace.ts';

/** Milliseconds between two drawings on a terminal. */
const REDRAW = 250;

/**
 * `rxlet trace`: emits text for standard output. Completes after what the agent has kept, or with `--follow` never;
 * marbles on a terminal are redrawn in place until somebody ends it. Errors with a {@link CliError} where no agent
 * answers, or no such pod is known.
 */
export function trace(options: TraceOptions, terminal: () => Terminal): Observable<string> {
  return podOf(options).pipe(
    switchMap((pod) => {
      if (options.marbles) return marbles(options, pod, terminal);
      return events(options, pod, options.follow).pipe(
        map((event) =>
          options.format === 'json'
            ? `${JSON.stringify(event)}\n`
            : renderTrace(event, terminal())
                .map((line) => `${line}\n`)
                .join(''),
        ),
      );
    }),
  );
}

/** `namespace/name`; of a pod that is gone, as the trace still has it. */
function podOf({ socket, name, namespace }: TraceOptions): Observable<string | undefined> {
  if (name === undefined) return of(undefined);
  return askAgent<NodeView>(socket, '/rxlet/view').pipe(
    map((view) => {
      const { metadata } = findPod(view, { name, namespace })[0].pod;
      return `${metadata.namespace}/${metadata.name}`;
    }),
    catchError((error: unknown) => {
      if (!(error instanceof CliError)) return throwError(() => error);
      return askLines<TraceEvent>(socket, '/rxlet/trace').pipe(
        map((kept) => {
          const found = nameIn(kept, name, namespace);
          if (found === undefined) throw error;
          return found;
        }),
      );
    }),
  );
}

/** The newest pod of that name; only where there is none, the one whose node stands after it. */
function nameIn(kept: readonly TraceEvent[], name: string, namespace: string | undefined): string | undefined {
  const pods = kept
    .flatMap((event) => ('pod' in event ? [event.pod] : []))
    .filter((pod) => namespace === undefined || pod.namespace === namespace);
  const found =
    pods.findLast((pod) => pod.name === name || `${pod.namespace}/${pod.name}` === name) ??
    pods.findLast((pod) => pod.name.startsWith(`${name}-`));
  return found && `${found.namespace}/${found.name}`;
}

function events({ socket, namespace }: TraceOptions, pod: string | undefined, lasts: boolean): Observable<TraceEvent> {
  const query = [...(lasts ? ['follow=true'] : []), ...(pod === undefined ? [] : [`pod=${encodeURIComponent(pod)}`])];
  const path = `/rxlet/trace${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const event$ = lasts
    ? followAgent<TraceEvent>(socket, path)
    : askLines<TraceEvent>(socket, path).pipe(concatMap((kept) => from(kept)));
  return namespace === undefined
    ? event$
    : event$.pipe(filter((event) => event.kind === 'gap' || ('pod' in event && event.pod.namespace === namespace)));
}

function marbles(options: TraceOptions, pod: string | undefined, terminal: () => Terminal): Observable<string> {
  const span = options.last * 1_000;

  function draw(kept: readonly TraceEvent[]): readonly string[] {
    const look = terminal();
    const paint = painter(look);
    const now = asyncScheduler.now();
    return drawMarbles(kept, { now, span, columns: look.columns }, (track) =>
      look.colour
        ? track.replace(/-+|[x/?]/g, (part) => paint(part.startsWith('-') ? LOOKS.dim : LOOKS.red, part))
        : track,
    );
  }

  return defer(() => {
    const { interactive } = terminal();
    if (!interactive && !options.follow)
      return events(options, pod, false).pipe(
        toArray(),
        map((kept) => `${draw(kept).join('\n')}\n`),
      );

    const kept$ = events(options, pod, true).pipe(
      bufferTime(interactive ? REDRAW : span),
      scan((kept: readonly TraceEvent[], fresh) => lately([...kept, ...fresh], asyncScheduler.now() - span), []),
    );
    if (!interactive) return kept$.pipe(map((kept) => `${draw(kept).join('\n')}\n\n`));
    return kept$.pipe(
      scan((before: Drawing | undefined, kept) => drawInPlace(draw(kept), terminal(), before), undefined),
      map((drawing) => drawing?.text ?? ''),
    );
  });
}

/** What happened after a time, and what began before it and goes on. */
function lately(kept: readonly TraceEvent[], from: number): readonly TraceEvent[] {
  const open = new Map<string, TraceEvent>();
  for (const event of kept) {
    if (event.at >= from) break;
    if (event.kind === 'begin') open.set(event.pod.uid, event);
    if (event.kind === 'outcome') open.delete(event.pod.uid);
  }
  return [...open.values(), ...kept.filter(({ at }) => at >= from)];
}
