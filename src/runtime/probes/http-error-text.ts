import { messageOf } from '../../model/errors.ts';
import { textOf } from './address.ts';
import type { HttpEvent, HttpRequest } from './http-exchange.ts';
import { codeOf, dialText } from './network-error.ts';

/** How far an exchange has come when it fails. */
export type Stage = 'dialling' | HttpEvent['at'];

/** What went wrong, in the words of Go's HTTP client. */
export function httpErrorText(error: unknown, request: HttpRequest, stage: Stage): string {
  if (stage === 'dialling' && codeOf(error) !== undefined) return dialText(error, request);
  if (request.scheme === 'https' && NO_TLS.test(messageOf(error))) {
    return 'http: server gave HTTP response to HTTPS client';
  }
  if (codeOf(error) !== 'ECONNRESET') return messageOf(error);
  if (stage === 'headers') return 'unexpected EOF';
  // Node says "socket hang up" where the server closed the connection properly.
  return messageOf(error) === 'socket hang up' ? 'EOF' : `read: connection reset by peer`;
}

export function httpTimeoutText(request: HttpRequest, stage: Stage): string {
  switch (stage) {
    case 'dialling':
      return `dial tcp ${textOf(request)}: i/o timeout (Client.Timeout exceeded while awaiting headers)`;
    case 'connected':
      return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
    case 'headers':
    case 'answer':
      return 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
  }
}

/** What OpenSSL says of an answer that is no TLS. */
const NO_TLS = /wrong version number|packet length too long|http request/;
