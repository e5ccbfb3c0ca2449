import { describe, expect, it } from 'vitest';
import { drawInPlace, type Drawing } from '../../../../src/cli/commands/draw-in-place.ts';

interface Size {
  readonly columns: number;
  readonly rows: number;
}

const SIZE: Size = { columns: 20, rows: 6 };

describe('drawInPlace', () => {
  it('draws below what is there, and over its own last drawing', () => {
    const screen = terminal(SIZE, ['hints']);
    const first = drawInPlace(['one', 'two'], SIZE);
    screen.write(first.text);
    expect(screen.lines()).toEqual(['hints', 'one', 'two']);
    screen.write(drawInPlace(['three', 'four'], SIZE, first).text);
    expect(screen.lines()).toEqual(['hints', 'three', 'four']);
  });

  it('leaves nothing of a drawing that was longer or wider', () => {
    const screen = terminal(SIZE, ['hints']);
    const drawing = drawAll(screen, [['a long first line', 'second', 'third']], SIZE);
    drawAll(screen, [['short']], SIZE, drawing);
    expect(screen.lines()).toEqual(['hints', 'short']);
  });

  it('scrolls what is above out of sight only as far as it needs the room', () => {
    const screen = terminal(SIZE, ['a', 'b', 'c', 'd']);
    drawAll(screen, [['1'], ['1', '2'], ['1', '2', '3'], ['4']], SIZE);
    expect(screen.lines()).toEqual(['c', 'd', '4']);
  });

  it('breaks lines that are too long, and keeps their place all the same', () => {
    const screen = terminal({ ...SIZE, columns: 8 }, ['hints']);
    drawAll(screen, [['0123456789'], ['\u001b[31m01234567\u001b[0m'], ['abcdefghijk', 'x']], { ...SIZE, columns: 8 });
    expect(screen.lines()).toEqual(['hints', 'abcdefgh', 'ijk', 'x']);
  });

  it('shows a line that just fits whole', () => {
    const screen = terminal({ ...SIZE, columns: 8 }, []);
    drawAll(
      screen,
      [
        ['01234567', 'x'],
        ['89abcdef', 'x'],
      ],
      { ...SIZE, columns: 8 },
    );
    expect(screen.lines()).toEqual(['89abcdef', 'x']);
  });

  it('keeps within the lines of the terminal and says how many it leaves out', () => {
    const screen = terminal(SIZE, ['hints']);
    const lines = ['1', '2', '3', '4', '5', '6', '7'];
    drawAll(screen, [lines, lines, ['x', ...lines]], SIZE);
    expect(screen.lines()).toEqual(['x', '1', '2', '3', '… 4 more lines']);
  });

  it.each([1, 2, 3])('does what it can with %i lines', (rows) => {
    const size = { columns: 4, rows };
    const screen = terminal(size, []);
    drawAll(screen, [['one', 'two', 'three'], ['a', 'b', 'c'], ['x']], size);
    expect(screen.lines().at(-1)).toBe(rows === 1 ? undefined : 'x');
    expect(screen.lines().length).toBeLessThanOrEqual(1);
  });

  it('clears a terminal that has another width now', () => {
    const drawing = drawInPlace(['0123456789'], SIZE);
    const narrow = { ...SIZE, columns: 5 };
    const screen = terminal(narrow, ['hints', '01234', '56789']);
    screen.write(drawInPlace(['01', '2'], narrow, drawing).text);
    expect(screen.lines()).toEqual(['01', '2']);
  });

  it('goes up no further than the terminal has lines when it became lower', () => {
    const drawing = drawInPlace(['1', '2', '3', '4', '5'], SIZE);
    const low = { ...SIZE, rows: 4 };
    const screen = terminal(low, ['3', '4', '5']);
    screen.write(drawInPlace(['a', 'b'], low, drawing).text);
    expect(screen.lines()).toEqual(['a', 'b']);
  });
});

function drawAll(screen: Screen, drawings: readonly (readonly string[])[], size: Size, before?: Drawing): Drawing {
  let last = before;
  for (const lines of drawings) {
    last = drawInPlace(lines, size, last);
    screen.write(last.text);
  }
  if (!last) throw new Error('nothing to draw');
  return last;
}

interface Screen {
  readonly write: (text: string) => void;
  /** What can be seen, without empty lines at the end. */
  readonly lines: () => readonly string[];
}

/** As much of a terminal as is needed: it wraps a full line only when one more character comes. */
function terminal({ columns, rows }: Size, above: readonly string[]): Screen {
  let grid: string[] = Array.from({ length: rows }, () => '');
  let row = 0;
  let column = 0;
  const at = (): string => grid[row] ?? '';
  function lineFeed(): void {
    if (row === rows - 1) grid = [...grid.slice(1), ''];
    else row++;
    column = 0;
  }
  function obey(token: string): void {
    const [, argument = '', command = ''] = /^\u001b\[([\d;]*)(\w)$/.exec(token) ?? [];
    if (token === '\n') lineFeed();
    else if (token === '\r') column = 0;
    else if (command === 'A') row = Math.max(0, row - Math.max(1, Number(argument)));
    else if (command === 'K') grid[row] = at().slice(0, Math.min(column, columns - 1));
    else if (command === 'J' && argument === '2') grid = grid.map(() => '');
    else if (command === 'J') grid = grid.map((line, i) => (i < row ? line : i > row ? '' : line.slice(0, column)));
    else if (command === 'H') row = column = 0;
    else if (command === '') {
      if (column === columns) lineFeed();
      grid[row] = `${at().slice(0, column).padEnd(column)}${token}${at().slice(column + 1)}`;
      column++;
    }
  }
  const screen: Screen = {
    write(text) {
      for (const [token] of text.matchAll(/\u001b\[[\d;]*\w|[^]/gu)) obey(token);
    },
    lines: () => grid.slice(0, grid.findLastIndex((line) => line !== '') + 1),
  };
  screen.write(above.map((line) => `${line}\n`).join(''));
  return screen;
}
