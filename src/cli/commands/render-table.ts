import { describeProblem } from '../../model/desired.ts';
import type { NodeView } from '../../streams/view/node-view.ts';
import type { Terminal } from '../terminal.ts';
import { LOOKS, painter, type Look } from './paint.ts';
import { tableRows, type Health, type TableRow } from './table-rows.ts';
import { wrap } from './wrap.ts';

/**
 * A node as text: what is wrong first, then one line per container. The plain table keeps within the terminal's
 * columns, cutting long names; the wide one adds images and cuts nothing. `now` is in milliseconds since 1970.
 */
export function renderTable(view: NodeView, now: number, terminal: Terminal, wide: boolean): readonly string[] {
  const rows = tableRows(view, now);
  const columns = wide ? [...COLUMNS, IMAGE] : COLUMNS;
  const natural = columns.map(({ head, cell }) => Math.max(head.length, ...rows.map((row) => cell(row).length)));
  const widths = wide ? natural : fit(columns, natural, terminal.columns);
  const paint = painter(terminal);

  const table = rows.flatMap((row) => {
    const line = columns.map((column, index) => {
      const text = pad(cut(column.cell(row), widths[index] ?? 0), widths[index] ?? 0);
      return column === STATE ? paint(COLOUR_OF[row.health], text) : text;
    });
    const note =
      row.note === '' ? [] : wrap(row.note, terminal.columns, '  ', '  ').map((text) => paint(LOOKS.dim, text));
    return [line.join(GAP).trimEnd(), ...note];
  });
  const head = columns.map((column, index) => pad(column.head, widths[index] ?? 0)).join(GAP);
  return [...troubles(view, terminal), ...(rows.length ? [paint(LOOKS.bold, head.trimEnd()), ...table] : [NO_PODS])];
}

const NO_PODS = 'No pods. Put a manifest into the folder that rxlet watches.';
const GAP = '  ';

interface Column {
  readonly head: string;
  readonly cell: (row: TableRow) => string;
  /** Columns below which it is not cut. */
  readonly least: number;
}

const POD: Column = { head: 'POD', cell: ({ pod }) => pod, least: 12 };
const CONTAINER: Column = { head: 'CONTAINER', cell: ({ container }) => container, least: 9 };
const STATE: Column = { head: 'STATE', cell: ({ state }) => state, least: 12 };
const RESTARTS: Column = { head: 'RESTARTS', cell: ({ restarts }) => restarts, least: 8 };
const AGE: Column = { head: 'AGE', cell: ({ age }) => age, least: 5 };
const IP: Column = { head: 'IP', cell: ({ ip }) => ip, least: 15 };
const IMAGE: Column = { head: 'IMAGE', cell: ({ image }) => image, least: 0 };
const COLUMNS: readonly Column[] = [POD, CONTAINER, STATE, RESTARTS, AGE, IP];
/** What is cut first when the line is too long. */
const CUT_ORDER: readonly Column[] = [POD, CONTAINER, STATE, RESTARTS, IP];

function fit(columns: readonly Column[], natural: readonly number[], room: number): readonly number[] {
  const widths = [...natural];
  let excess = natural.reduce((sum, width) => sum + width, (columns.length - 1) * GAP.length) - room;
  for (const column of CUT_ORDER) {
    const index = columns.indexOf(column);
    const width = widths[index] ?? 0;
    const taken = Math.max(0, Math.min(excess, width - column.least));
    widths[index] = width - taken;
    excess -= taken;
  }
  return widths;
}

function cut(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text;
}

function pad(text: string, width: number): string {
  return text.padEnd(width);
}

function troubles({ problems, runtime, plegHealthy, plegMessage }: NodeView, terminal: Terminal): readonly string[] {
  const paint = painter(terminal);
  const lines = [
    ...(runtime.ready ? [] : [`The container runtime is not ready${runtime.message ? `: ${runtime.message}` : '.'}`]),
    ...(plegHealthy ? [] : [`What follows may be old: ${plegMessage}`]),
    ...problems.map(describeProblem),
  ].flatMap((text) => wrap(text, terminal.columns, '', '  '));
  return lines.length ? [...lines.map((line) => paint(LOOKS.red, line)), ''] : [];
}

const COLOUR_OF: Readonly<Record<Health, Look>> = {
  good: LOOKS.green,
  busy: LOOKS.yellow,
  bad: LOOKS.red,
  over: LOOKS.dim,
};
