import type { Terminal } from '../terminal.ts';

/** Text that draws lines on a terminal, and what the next drawing must know to take their place. */
export interface Drawing {
  readonly text: string;
  /** Lines of the terminal that it takes. The cursor rests at the beginning of the line below. */
  readonly height: number;
  /** Of the terminal it was made for. */
  readonly columns: number;
}

/**
 * Draws lines at the cursor, or over the drawing `before`; what stands above stays in sight. Lines that are longer than
 * the terminal is wide are broken, and what the terminal has no lines for is left out, because the cursor could not come
 * back over what has scrolled away. A terminal that became wider or narrower is cleared first: nobody knows how it has
 * broken the old lines.
 */
export function drawInPlace(
  lines: readonly string[],
  { columns, rows }: Pick<Terminal, 'columns' | 'rows'>,
  before?: Drawing,
): Drawing {
  const broken = lines.flatMap((line) => breakLine(line, columns));
  const room = Math.max(1, rows - 1);
  const shown =
    broken.length <= room
      ? broken
      : [...broken.slice(0, room - 1), `… ${broken.length - room + 1} more lines`.slice(0, columns)];
  return {
    // Cleared before it is written: after a full line the cursor still stands on its last character.
    text: `${back(before, columns, rows)}${shown.map((line) => `${CLEAR_LINE}${line}\n`).join('')}${CLEAR_BELOW}`,
    height: shown.length,
    columns,
  };
}

const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CLEAR_ALL = '\u001b[2J\u001b[H';

function back(before: Drawing | undefined, columns: number, rows: number): string {
  if (!before) return '';
  if (before.columns !== columns) return CLEAR_ALL;
  const up = Math.min(before.height, rows - 1);
  return up > 0 ? `\r\u001b[${up}A` : '\r';
}

/** Pieces of at most `columns` characters; colours take no room and go on from piece to piece. */
function breakLine(line: string, columns: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const [token] of line.matchAll(/\u001b\[[\d;]*m|./gu)) {
    const isCharacter = !token.startsWith('\u001b');
    if (isCharacter && width === columns) {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    if (isCharacter) width++;
    piece += token;
  }
  return [...pieces, piece];
}
