import { status } from '@grpc/grpc-js';
import { messageOf, RuntimeError, type RuntimeErrorKind } from '../../model/errors.ts';

const KINDS: ReadonlyMap<unknown, RuntimeErrorKind> = new Map([
  [status.UNAVAILABLE, 'unavailable'],
  [status.DEADLINE_EXCEEDED, 'deadline'],
  [status.NOT_FOUND, 'notFound'],
  [status.ALREADY_EXISTS, 'alreadyExists'],
  [status.UNIMPLEMENTED, 'unimplemented'],
  // Nobody listens any more to a call that was cancelled here: this is a runtime dropping calls on its way down.
  [status.CANCELLED, 'unavailable'],
]);

/**
 * The agent's word for whatever made one call (`RunPodSandbox`) fail. A gRPC status without a word of its own is
 * `refused`, and so is what gRPC throws before it sends anything, as on a channel that has been closed.
 */
export function runtimeError(error: unknown, call: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // gRPC puts the status before the text of the message; `details` is the text alone.
  const details = error instanceof Error && 'details' in error ? error.details : undefined;
  const text = typeof details === 'string' && details !== '' ? details : messageOf(error);
  return new RuntimeError(KINDS.get(code) ?? 'refused', call, text, statusName(code));
}

/** `NOT_FOUND` as Go writes it: `NotFound`. */
function statusName(code: unknown): string | undefined {
  const name = typeof code === 'number' ? status[code] : undefined;
  return name
    ?.toLowerCase()
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')
    .replace('Cancelled', 'Canceled');
}
