import { messageOf } from '../../model/errors.ts';
import { textOf, type Address } from './address.ts';

/** Who ran out of something is this machine; it says nothing about the container (kubernetes/kubernetes#81713). */
const OUR_OWN: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset by peer'],
  ['EHOSTUNREACH', 'no route to host'],
  ['ENETUNREACH', 'network is unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
]);

/** Why a connection could not be made, in the words of Go, which people know from the kubelet. */
export function dialText(error: unknown, address: Address): string {
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${address.host}: no such host`;
  return `dial tcp ${textOf(address)}: connect: ${REASONS.get(code) ?? messageOf(error)}`;
}

export function isOurOwn(error: unknown): boolean {
  return OUR_OWN.has(codeOf(error));
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
