/** The statuses of gRPC, at their numbers, as Go prints them. */
export const GRPC_STATUSES = [
  'OK',
  'Canceled',
  'Unknown',
  'InvalidArgument',
  'DeadlineExceeded',
  'NotFound',
  'AlreadyExists',
  'PermissionDenied',
  'ResourceExhausted',
  'FailedPrecondition',
  'Aborted',
  'OutOfRange',
  'Unimplemented',
  'Internal',
  'Unavailable',
  'DataLoss',
  'Unauthenticated',
] as const;

export type GrpcStatus = (typeof GRPC_STATUSES)[number];

/** A call that did not end with OK: its status, and what the server, or this side, says of it. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: GrpcStatus;

  constructor(status: GrpcStatus, message: string) {
    super(message);
    this.status = status;
  }
}
