/** An error like those of the operating system. */
export function systemError(code: string, what: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${what}, '${path}'`), { code, path });
}
