import { constants, type IncomingHttpHeaders } from 'node:http2';
import { GRPC_STATUSES, GrpcError, type GrpcStatus } from './grpc-status.ts';

/** Headers and trailers of an answer, put together. */
export type AnswerHeaders = IncomingHttpHeaders & { readonly ':status'?: number | undefined };

/** What the server made of a call; `undefined` where it went well. */
export function failureIn(headers: AnswerHeaders): GrpcError | undefined {
  const { 'grpc-status': code, 'grpc-message': text, ':status': http } = headers;
  if (typeof code === 'string') {
    const status = GRPC_STATUSES[Number(code)] ?? 'Unknown';
    return status === 'OK' ? undefined : new GrpcError(status, decoded(typeof text === 'string' ? text : ''));
  }
  return new GrpcError(
    BY_HTTP.get(http) ?? 'Unknown',
    `unexpected HTTP status code received from server: ${http ?? 'none'}`,
  );
}

/** A message in a header is percent-encoded; one that is not well encoded is shown as it came. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** For servers, and proxies in front of them, that do not speak gRPC (grpc: http-grpc-status-mapping). */
const BY_HTTP: ReadonlyMap<number | undefined, GrpcStatus> = new Map([
  [constants.HTTP_STATUS_BAD_REQUEST, 'Internal'],
  [constants.HTTP_STATUS_UNAUTHORIZED, 'Unauthenticated'],
  [constants.HTTP_STATUS_FORBIDDEN, 'PermissionDenied'],
  [constants.HTTP_STATUS_NOT_FOUND, 'Unimplemented'],
  [constants.HTTP_STATUS_TOO_MANY_REQUESTS, 'Unavailable'],
  [constants.HTTP_STATUS_BAD_GATEWAY, 'Unavailable'],
  [constants.HTTP_STATUS_SERVICE_UNAVAILABLE, 'Unavailable'],
  [constants.HTTP_STATUS_GATEWAY_TIMEOUT, 'Unavailable'],
]);
