import { messageOf, RuntimeError, type RuntimeErrorKind } from '../../model/errors.ts';
import { GrpcError, type GrpcStatus } from '../grpc/grpc-status.ts';

const KINDS: ReadonlyMap<GrpcStatus, RuntimeErrorKind> = new Map([
  ['Unavailable', 'unavailable'],
  ['DeadlineExceeded', 'deadline'],
  ['NotFound', 'notFound'],
  ['AlreadyExists', 'alreadyExists'],
  ['Unimplemented', 'unimplemented'],
  // Nobody listens any more to a call that was cancelled here: this is a runtime dropping calls on its way down.
  ['Canceled', 'unavailable'],
]);

/**
 * The agent's word for whatever made one call (`RunPodSandbox`) fail. A gRPC status without a word of its own is
 * `refused`, and so is an answer that cannot be decoded.
 */
export function runtimeError(error: unknown, call: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  if (!(error instanceof GrpcError)) return new RuntimeError('refused', call, messageOf(error));
  return new RuntimeError(KINDS.get(error.status) ?? 'refused', call, error.message, error.status);
}
