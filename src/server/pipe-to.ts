import type { ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { Observable } from 'rxjs';

/**
 * Sends bytes as they come, at the pace of the client. Emits nothing, completes when all is sent or either side has
 * broken off: then the answer is cut short, which a client of HTTP notices. Unsubscribing ends both.
 */
export function pipeTo(bytes: Readable, response: ServerResponse, type: string): Observable<never> {
  return new Observable((observer) => {
    response.writeHead(200, { 'content-type': type, 'x-content-type-options': 'nosniff' });
    response.flushHeaders();
    pipeline(bytes, response, () => {
      observer.complete();
    });
    return () => {
      bytes.destroy();
    };
  });
}
