/** Read by setting it twice, which is how it can be read; nothing else runs meanwhile. */
const UMASK = process.umask(0o077);
process.umask(UMASK);

/** Whether the kernel makes a file with just this mode, so that it need not be set afterwards. */
export function isExact(mode: number): boolean {
  return (mode & ~0o777) === 0 && (mode & UMASK) === 0;
}
