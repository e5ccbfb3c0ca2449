import type { Observable } from 'rxjs';
import type { NodeView } from '../streams/view/node-view.ts';
import type { Route } from './route.ts';
import type { Answer } from './send.ts';
import { tell } from './tell.ts';

interface Check {
  readonly name: string;
  /** What is wrong; `undefined` where nothing is. */
  readonly wrong: (view: NodeView) => string | undefined;
}

const PING: Check = { name: 'ping', wrong: () => undefined };
/** The log is written by whoever answers here, so it is as well as this answer. */
const LOG: Check = { name: 'log', wrong: () => undefined };
const SYNC_LOOP: Check = {
  name: 'syncloop',
  wrong: ({ plegHealthy, plegMessage }) => (plegHealthy ? undefined : plegMessage),
};
const RUNTIME: Check = {
  name: 'runtime',
  wrong: ({ runtime }) => (runtime.ready ? undefined : runtime.message || 'the runtime has not answered yet'),
};

/**
 * How the agent is, by the kubelet's paths: 200 and `ok`, or 500 and each check with what is wrong. `?verbose` tells
 * them in any case, `?exclude=<check>` leaves one out. `/livez` is well where the agent is, `/readyz` where pods can
 * start.
 */
export function healthRoutes(view$: Observable<NodeView>): readonly Route[] {
  return [
    health('/healthz', [PING, LOG, SYNC_LOOP]),
    ...[PING, LOG, SYNC_LOOP].map((check) => health(`/healthz/${check.name}`, [check])),
    health('/livez', [PING, LOG, SYNC_LOOP]),
    health('/readyz', [PING, LOG, SYNC_LOOP, RUNTIME]),
  ];

  function health(path: string, checks: readonly Check[]): Route {
    return {
      path,
      access: 'health',
      answer: tell(view$, (view, query) => report(path.slice(1), checks, view, query)),
    };
  }
}

function report(name: string, checks: readonly Check[], view: NodeView, query: URLSearchParams): Answer {
  const excluded = query.getAll('exclude');
  const lines = checks.map((check) => {
    if (excluded.includes(check.name)) return { ok: true, text: `[+]${check.name} excluded: ok` };
    const wrong = check.wrong(view);
    return {
      ok: wrong === undefined,
      text: wrong === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${wrong}`,
    };
  });
  const ok = lines.every((line) => line.ok);
  if (ok && !query.has('verbose')) return { status: 200, text: 'ok' };
  const told = [...lines.map(({ text }) => text), `${name} check ${ok ? 'passed' : 'failed'}`];
  return { status: ok ? 200 : 500, text: told.join('\n') };
}
