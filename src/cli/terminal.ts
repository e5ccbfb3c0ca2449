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
  return {
    interactive,
    colour: interactive && !plain,
    columns: known(stream.columns, 80),
    rows: known(stream.rows, 24),
  };
}

/** A terminal that nobody has given a size says 0. */
function known(size = 0, otherwise: number): number {
  return size > 0 ? size : otherwise;
}
