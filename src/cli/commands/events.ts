import { asyncScheduler, concat, concatMap, defer, filter, map, of, switchMap, type Observable } from 'rxjs';
import type { PodEvent } from '../../streams/events/event-log.ts';
import type { NodeView } from '../../streams/view/node-view.ts';
import type { EventsOptions } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { askAgent, followAgent } from './ask-agent.ts';
import { findPod } from './find-pod.ts';
import { renderEvents } from './render-events.ts';
import { yamlText } from './yaml-text.ts';

/**
 * `rxlet events`: emits text for standard output. Completes after what has happened so far, or with `--watch` never.
 * Errors with a {@link CliError} where no agent answers, or no such pod is known.
 */
export function events(options: EventsOptions, terminal: () => Terminal): Observable<string> {
  const { socket, watch } = options;
  return nameOf(options).pipe(
    switchMap((name) =>
      watch
        ? follow(options, name, terminal)
        : askAgent<readonly PodEvent[]>(socket, '/rxlet/events').pipe(
            map((all) => all.filter((event) => isMeant(event, options, name))),
            switchMap((found) => print(found, options, terminal())),
          ),
    ),
  );
}

/** The pod's whole name; of one that is gone, the name as it was given. */
function nameOf({ socket, name, namespace }: EventsOptions): Observable<string | undefined> {
  if (name === undefined) return of(undefined);
  return askAgent<NodeView>(socket, '/rxlet/view').pipe(
    switchMap((view) =>
      askAgent<readonly PodEvent[]>(socket, '/rxlet/events').pipe(
        map((all) =>
          all.some(({ of }) => of.name === name) ? name : findPod(view, { name, namespace })[0].pod.metadata.name,
        ),
      ),
    ),
  );
}

function isMeant({ of }: PodEvent, { namespace }: EventsOptions, name: string | undefined): boolean {
  return (name === undefined || of.name === name) && (namespace === undefined || of.namespace === namespace);
}

function print(found: readonly PodEvent[], { format }: EventsOptions, terminal: Terminal): Observable<string> {
  switch (format) {
    case 'json':
      return of(`${JSON.stringify(found, undefined, 2)}\n`);
    case 'yaml':
      return yamlText(found);
    case 'name':
      return of(found.map(nameLine).join(''));
    case 'table':
    case 'wide': {
      const look = { withPod: true, wide: format === 'wide' };
      const lines = found.length > 0 ? renderEvents(found, asyncScheduler.now(), terminal, look) : ['No events.'];
      return of(`${lines.join('\n')}\n`);
    }
  }
}

/** One line, or one document, per event. */
function follow(options: EventsOptions, name: string | undefined, terminal: () => Terminal): Observable<string> {
  const { format, socket } = options;
  const event$ = followAgent<PodEvent>(socket, '/rxlet/events/watch').pipe(
    filter((event) => isMeant(event, options, name)),
  );
  switch (format) {
    case 'json':
      return event$.pipe(map((event) => `${JSON.stringify(event)}\n`));
    case 'yaml':
      return event$.pipe(
        concatMap(yamlText),
        map((text) => `---\n${text}`),
      );
    case 'name':
      return event$.pipe(map(nameLine));
    case 'table':
    case 'wide': {
      const look = { withPod: true, wide: format === 'wide', withHead: false };
      return concat(
        defer(() => of(renderEvents([], 0, terminal(), { ...look, withHead: true }))),
        event$.pipe(map((event) => renderEvents([event], asyncScheduler.now(), terminal(), look))),
      ).pipe(map((lines) => lines.map((line) => `${line}\n`).join('')));
    }
  }
}

function nameLine({ of }: PodEvent): string {
  return `${of.kind === 'Node' ? 'node' : of.namespace}/${of.name}\n`;
}
