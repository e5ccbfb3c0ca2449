/**
 * What can go wrong in a call to the container runtime.
 *
 * | kind            | gRPC status                        | what the agent does with it                     |
 * | --------------- | ---------------------------------- | ----------------------------------------------- |
 * | `unavailable`   | UNAVAILABLE, CANCELLED by runtime  | waits for the runtime to come back, then retries |
 * | `deadline`      | DEADLINE_EXCEEDED                  | retries with back-off; the effect may have happened |
 * | `notFound`      | NOT_FOUND                          | success for stop and remove, else observes again |
 * | `alreadyExists` | ALREADY_EXISTS                     | observes again                                  |
 * | `unimplemented` | UNIMPLEMENTED                      | does without                                    |
 * | `cancelled`     | none                               | nothing: somebody stopped listening             |
 * | `refused`       | every other                        | shows the message, retries with back-off        |
 */
export type RuntimeErrorKind =
  'unavailable' | 'deadline' | 'notFound' | 'alreadyExists' | 'unimplemented' | 'cancelled' | 'refused';

export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly kind: RuntimeErrorKind;
  /** The CRI call that failed, as `RunPodSandbox`. */
  readonly call: string;
  /** gRPC's name of the status, as `NotFound`; absent where it has none. */
  readonly status: string | undefined;

  constructor(kind: RuntimeErrorKind, call: string, message: string, status?: string) {
    super(message);
    this.kind = kind;
    this.call = call;
    this.status = status ?? STATUSES[kind];
  }
}

const STATUSES: Readonly<Partial<Record<RuntimeErrorKind, string>>> = {
  unavailable: 'Unavailable',
  deadline: 'DeadlineExceeded',
  notFound: 'NotFound',
  alreadyExists: 'AlreadyExists',
  unimplemented: 'Unimplemented',
  cancelled: 'Canceled',
};

/** As {@link messageOf}, and which call it was that the runtime did not answer: then the text alone says too little. */
export function messageWithCall(error: unknown): string {
  const isSilent = error instanceof RuntimeError && (error.kind === 'deadline' || error.kind === 'unavailable');
  return isSilent ? `${error.call}: ${messageOf(error)}` : messageOf(error);
}

/** Text of anything thrown, for messages that people read. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Keeps a switch over a closed union closed: a new member is a compile error here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
