import { describe, expect, it } from 'vitest';
import { terminalOf } from '../../../src/cli/terminal.ts';

describe('terminalOf', () => {
  it('takes what is no terminal for 80 plain columns', () => {
    expect(terminalOf({}, {})).toEqual({ interactive: false, colour: false, columns: 80, rows: 24 });
  });

  it('colours a terminal of any size', () => {
    const terminal = { interactive: true, colour: true, columns: 132, rows: 50 };
    expect(terminalOf({ isTTY: true, columns: 132, rows: 50 }, {})).toEqual(terminal);
  });

  it('takes a terminal that does not know its size for one of 80 by 24', () => {
    expect(terminalOf({ isTTY: true, columns: 0, rows: 0 }, {})).toMatchObject({ columns: 80, rows: 24 });
  });

  it.each([[{ NO_COLOR: '1' }], [{ TERM: 'dumb' }]])('does not colour with %j', (env) => {
    expect(terminalOf({ isTTY: true }, env).colour).toBe(false);
  });

  it('colours when NO_COLOR is there but empty', () => {
    expect(terminalOf({ isTTY: true }, { NO_COLOR: '' }).colour).toBe(true);
  });
});
