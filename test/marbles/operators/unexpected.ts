/** The error handler of a stream that must not fail. */
export function unexpected(error: unknown): never {
  throw new Error('a stream failed that must not', { cause: error });
}
