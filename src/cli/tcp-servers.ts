import { hostname, networkInterfaces } from 'node:os';
import {
  catchError,
  concat,
  defer,
  EMPTY,
  from,
  map,
  merge,
  of,
  Subject,
  switchMap,
  timer,
  type Observable,
} from 'rxjs';
import type { RunConfig } from '../model/config/run-config.ts';
import { messageOf } from '../model/errors.ts';
import type { Route } from '../server/route.ts';
import type { TlsFiles } from '../host/pki/tls-identity.ts';
import type { LogLine } from './log-line.ts';

/** Milliseconds before a server that could not begin tries again (the kubelet's for health). */
const RETRY = 5_000;

/**
 * The servers that listen on ports, where they are switched on. Emits lines for the log and never errors: a port that
 * is taken holds up no pod, and is tried again. Unsubscribing ends the connections.
 */
export function tcpServers(run: RunConfig, routes: readonly Route[]): Observable<LogLine> {
  const { healthzBindAddress, healthzPort, enableServer, address, port } = run.config;
  if (healthzPort === 0 && (port === 0 || !enableServer)) return EMPTY;
  return from(import('../server/tcp-apis.ts')).pipe(
    switchMap(({ healthApi, nodeApi }) =>
      merge(
        healthzPort === 0
          ? EMPTY
          : stubborn('health', () => healthApi({ host: healthzBindAddress, port: healthzPort }, routes)),
        port === 0 || !enableServer
          ? EMPTY
          : from(import('../host/pki/tls-identity.ts')).pipe(
              switchMap(({ tlsIdentity }) => {
                const problems = new Subject<string>();
                const identity$ = tlsIdentity(tlsFiles(run), (problem) => {
                  problems.next(problem);
                });
                return merge(
                  problems.pipe(map((message): LogLine => ({ level: 'warn', message }))),
                  stubborn('API', () => nodeApi({ host: address, port }, identity$, routes)),
                );
              }),
            ),
      ),
    ),
  );
}

function stubborn(what: string, serve: () => Observable<string>): Observable<LogLine> {
  return defer(serve).pipe(
    map((where): LogLine => ({ level: 'info', message: `the ${what} server listens`, fields: { address: where } })),
    catchError((error: unknown, again$) =>
      concat(
        of<LogLine>({ level: 'warn', message: `no ${what} server: ${messageOf(error)}; tried again` }),
        timer(RETRY).pipe(switchMap(() => again$)),
      ),
    ),
  );
}

function tlsFiles({ config, rootDir, nodeName, nodeIps }: RunConfig): TlsFiles {
  const addresses = Object.values(networkInterfaces()).flatMap((ofInterface) =>
    (ofInterface ?? []).filter(({ address }) => !address.startsWith('fe80:')).map(({ address }) => address),
  );
  return {
    folder: `${rootDir}/pki`,
    nodeName,
    names: [...new Set([nodeName, hostname().toLowerCase(), 'localhost', ...nodeIps, ...addresses])],
    certFile: config.tlsCertFile,
    keyFile: config.tlsPrivateKeyFile,
    clientCaFile: config.authentication.x509.clientCAFile,
  };
}
