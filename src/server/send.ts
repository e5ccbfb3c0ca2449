import type { ServerResponse } from 'node:http';
import { defer, EMPTY, type Observable } from 'rxjs';

/** An answer that is known as a whole. */
export type Answer =
  | { readonly status: number; readonly text: string; readonly type?: string }
  | { readonly status: number; readonly json: unknown };

/** Milliseconds that a client may leave an answer lying before it is cut off. */
const PATIENCE = 60_000;

/** Sends an answer, once subscribed; a response that has begun already is cut off instead. Emits nothing. */
export function send(response: ServerResponse, answer: Answer): Observable<never> {
  return defer(() => {
    sendNow(response, answer);
    return EMPTY;
  });
}

function sendNow(response: ServerResponse, answer: Answer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = 'json' in answer ? `${JSON.stringify(answer.json)}\n` : answer.text;
  const type = 'json' in answer ? 'application/json' : (answer.type ?? 'text/plain; charset=utf-8');
  const ended = body.endsWith('\n') ? body : `${body}\n`;
  response.setTimeout(PATIENCE, () => response.destroy());
  response.writeHead(answer.status, {
    'content-type': type,
    'content-length': Buffer.byteLength(ended),
    'x-content-type-options': 'nosniff',
  });
  response.end(ended);
}
