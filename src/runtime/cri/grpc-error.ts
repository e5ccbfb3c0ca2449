import { messageOf, RuntimeError } from '../../model/errors.ts';
import { GRPC_STATUSES, GrpcError, type GrpcStatus } from '../grpc/grpc-status.ts';

/** How a runtime of ours says what made a call fail; the other way round than `runtimeError`. */
export function grpcError(error: unknown): GrpcError {
  if (error instanceof GrpcError) return error;
  return new GrpcError(statusOf(error), messageOf(error));
}

function statusOf(error: unknown): GrpcStatus {
  const told = error instanceof RuntimeError ? error.status : undefined;
  return GRPC_STATUSES.find((status) => status === told) ?? 'Unknown';
}
