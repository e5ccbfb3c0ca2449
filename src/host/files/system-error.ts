/** Whether an error of the operating system has one of these codes, as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** An error of our own that reads like one of the operating system's. */
export function systemError(code: string, what: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${what}, '${path}'`), { code, path });
}
