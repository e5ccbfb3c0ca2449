import { createServer, type AddressInfo, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { catchError, EMPTY, merge, mergeMap, Observable, switchMap } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { NodeView } from '../../streams/view/node-view.ts';
import { CliError } from '../cli-error.ts';
import type { PortForwardOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { withSession, type Session } from '../spdy/open-session.ts';
import { askAgent } from './ask-agent.ts';
import { findPod } from './find-pod.ts';

/**
 * `rxlet port-forward`: listens on this machine and passes connections on to ports of a pod, also to those on its
 * loopback. Emits lines for people; never completes. Errors where a port cannot be listened on. What becomes of single
 * connections is told to `complain`.
 */
export function portForward(options: PortForwardOptions, complain: (text: string) => void): Observable<string> {
  return askAgent<NodeView>(options.socket, '/rxlet/view').pipe(
    switchMap((view) => {
      const [{ pod }] = findPod(view, options);
      const path = `/portForward/${pod.metadata.namespace}/${pod.metadata.name}`;
      return merge(...options.ports.map((pair) => forwarded(pair, path, options, complain)));
    }),
  );
}

function forwarded(
  { local, remote }: PortForwardOptions['ports'][number],
  path: string,
  { socket, address }: PortForwardOptions,
  complain: (text: string) => void,
): Observable<string> {
  return listen(local, address).pipe(
    mergeMap((heard) => {
      if (typeof heard === 'number') return [`Forwarding from ${address}:${heard} -> ${remote}\n`];
      // A connection of its own for each client, so that a slow one holds up no other.
      return withSession(socket, path, 'portforward.k8s.io', (session) => joined(heard, session, remote)).pipe(
        catchError((error: unknown) => {
          complain(`rxlet: port ${remote}: ${messageOf(error)}\n`);
          heard.destroy();
          return EMPTY;
        }),
      );
    }),
  );
}

/** Emits the port once it listens, then each client. Unsubscribing cuts them all. */
function listen(port: number, address: string): Observable<number | Socket> {
  return new Observable((observer) => {
    const clients = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      clients.add(client);
      client.on('error', () => undefined);
      client.on('close', () => clients.delete(client));
      observer.next(client);
    });
    server.on('error', ({ message, code }: NodeJS.ErrnoException) => {
      const hint = code === 'EADDRINUSE' ? 'Name another: 8081:80, or :80 for any free one.' : '';
      observer.error(new CliError(EXIT_CODES.cannotStart, `cannot listen: ${message}`, hint));
    });
    server.listen(port, address, () => {
      observer.next((server.address() as AddressInfo).port);
    });
    return () => {
      server.close();
      for (const client of clients) client.destroy();
    };
  });
}

/** Completes when both directions have ended; errors where the pod does not take the connection. */
function joined(client: Socket, session: Session, port: number): Observable<never> {
  return new Observable((observer) => {
    const headers = { port: String(port), requestid: '0' };
    const news = session.open({ ...headers, streamtype: 'error' });
    const data = session.open({ ...headers, streamtype: 'data' });
    let problem = '';
    let left = 3;
    function ended(): void {
      left -= 1;
      if (left > 0) return;
      if (problem === '') observer.complete();
      else observer.error(new Error(inShort(problem)));
    }
    news.on('data', (chunk: Buffer) => (problem += chunk.toString()));
    news.on('close', ended);
    news.end();
    pipeline(client, data, ended);
    pipeline(data, client, ended);
    return () => {
      client.destroy();
    };
  });
}

/** Runtimes tell the whole way to what went wrong. */
function inShort(problem: string): string {
  return problem.includes('connection refused') ? 'nothing in the pod listens there' : problem.trim();
}
