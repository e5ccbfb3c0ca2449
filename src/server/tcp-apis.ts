import { mergeMap, of, type Observable } from 'rxjs';
import type { TlsIdentity } from '../streams/ports/tls-identity.ts';
import { answer } from './answer.ts';
import type { Access, Route } from './route.ts';
import { serveTcp, serveTls, type TcpAddress } from './serve-tcp.ts';
import type { ServerEvent } from './server-event.ts';

/** Health for anybody who reaches the address, without a word on anything else. Emits where it listens. */
export function healthApi(address: TcpAddress, routes: readonly Route[]): Observable<string> {
  return answers(serveTcp(address), routes, ['health']);
}

/** The kubelet's API over TLS, for clients that the authority has signed. Emits where it listens. */
export function nodeApi(
  address: TcpAddress,
  identity$: Observable<TlsIdentity>,
  routes: readonly Route[],
): Observable<string> {
  return answers(serveTls(address, identity$), routes, ['health', 'node']);
}

function answers(
  event$: Observable<ServerEvent>,
  routes: readonly Route[],
  classes: readonly Access[],
): Observable<string> {
  const served = routes.filter(({ access }) => classes.includes(access));
  return event$.pipe(mergeMap((event) => (event.kind === 'listening' ? of(event.where) : answer(event, served))));
}
