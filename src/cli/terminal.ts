/** Where text goes, as far as its looks depend on it. */
export interface Terminal {
  /** A person looks at it, so it may be redrawn. */
  readonly interactive: boolean;
  readonly colour: boolean;
  readonly columns: number;
  readonly rows: number;
}

/** Looks at an output stream. Colours only on a terminal, and never against `NO_COLOR` (https://no-color.org). */
export function terminalOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number },
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const interactive = stream.isTTY === true;
  const plain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return { interactive, colour: interactive && !plain, columns: stream.columns ?? 80, rows: stream.rows ?? 24 };
}
