import type { Readable } from 'node:stream';
import {
  asyncScheduler,
  concat,
  defer,
  filter,
  ignoreElements,
  merge,
  of,
  switchMap,
  take,
  tap,
  type Observable,
} from 'rxjs';
import { instanceToRead } from '../model/logs/instance-of.ts';
import { readLogOptions, type LogOptions } from '../model/logs/log-options.ts';
import type { NodeView } from '../streams/view/node-view.ts';
import { findInstance } from './find-instance.ts';
import { pipeTo } from './pipe-to.ts';
import type { Exchange, Route } from './route.ts';
import { send } from './send.ts';

export interface LogRoutesConfig {
  /** Emits the newest view at once to whoever subscribes, then each change. */
  readonly view$: Observable<NodeView>;
  /** Opens the log of a container; with `follow` its bytes end once `ended` and all is told. Emits once. */
  readonly openLog: (
    containerId: string,
    options: LogOptions,
    ended: AbortSignal,
  ) => Observable<{ readonly kind: 'log'; readonly bytes: Readable } | { readonly kind: 'none'; readonly why: string }>;
  /** Emits once all that a container which has ended had to say is in its log. */
  readonly whenWritten: (containerId: string) => Observable<unknown>;
}

/**
 * `/containerLogs/:namespace/:pod/:container` with the kubelet's query: `follow`, `previous`, `tailLines` (`tail`),
 * `limitBytes`, `sinceSeconds`, `sinceTime`, `timestamps`, `stream`. The answer is what the container wrote.
 */
export function logRoutes({ view$, openLog, whenWritten }: LogRoutesConfig): readonly Route[] {
  function answer({ response, params, query }: Exchange): Observable<never> {
    return defer(() => {
      const options = readLogOptions(query, asyncScheduler.now());
      if ('problem' in options) return send(response, { status: 400, text: options.problem });
      const container = params['container'] ?? '';
      return findInstance(view$, params, (status) => instanceToRead(status, container, options.previous)).pipe(
        switchMap((found) => {
          if (found.kind === 'refused') return send(response, { status: found.status, text: found.text });
          const ended = new AbortController();
          const log$ = openLog(found.containerId, options, ended.signal).pipe(
            switchMap((opened) =>
              opened.kind === 'log'
                ? pipeTo(opened.bytes, response, 'text/plain')
                : send(response, { status: 404, text: opened.why }),
            ),
          );
          const over$ = hasEnded(view$, container, found.containerId).pipe(
            switchMap(() => whenWritten(found.containerId)),
            tap(() => {
              ended.abort();
            }),
            ignoreElements(),
          );
          return merge(over$, concat(log$, of('told'))).pipe(take(1), ignoreElements());
        }),
      );
    });
  }
  return [{ path: '/containerLogs/:namespace/:pod/:container', access: 'node', answer }];
}

/** Emits once, as soon as an instance of a container does not run. */
function hasEnded(view$: Observable<NodeView>, container: string, containerId: string): Observable<unknown> {
  return view$.pipe(
    filter(
      ({ pods }) =>
        !pods.some(({ status }) => {
          const current = instanceToRead(status, container, false);
          return current.kind === 'found' && current.containerId === containerId && current.running;
        }),
    ),
    take(1),
  );
}
