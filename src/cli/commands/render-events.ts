import type { PodEvent } from '../../streams/events/event-log.ts';
import type { Terminal } from '../terminal.ts';
import { formatAge } from './format-age.ts';
import { LOOKS, painter } from './paint.ts';
import { wrap } from './wrap.ts';

export interface EventsLook {
  /** Before each line. */
  readonly indent?: string;
  /** Names the pod of each event. */
  readonly withPod?: boolean;
  readonly withHead?: boolean;
  /** Leaves messages on one line, however long. */
  readonly wide?: boolean;
}

/** Events as `kubectl get events` prints them, oldest first; messages are broken to the width of the terminal. */
export function renderEvents(
  events: readonly PodEvent[],
  now: number,
  terminal: Terminal,
  { indent = '', withPod = false, withHead = true, wide = false }: EventsLook = {},
): readonly string[] {
  const paint = painter(terminal);
  const rows = events.map((event) => ({ event, cells: cellsOf(event, now, withPod) }));
  const head = ['AGE', 'TYPE', 'REASON', ...(withPod ? ['POD'] : [])];
  // Of those that come one by one nobody knows how wide the next will be.
  const widths = head.map((title, index) =>
    Math.max(title.length, LEAST[title] ?? 0, ...rows.map(({ cells }) => (cells[index] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    `${indent}${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`;
  const lines = rows.flatMap(({ event, cells }) => {
    const look = event.type === 'Warning' ? LOOKS.yellow : undefined;
    const text = told(event, line(cells), indent, wide ? Infinity : terminal.columns);
    return look ? text.map((one) => paint(look, one)) : text;
  });
  return withHead ? [paint(LOOKS.bold, `${line(head)}  MESSAGE`), ...lines] : lines;
}

const LEAST: Readonly<Record<string, number>> = { AGE: 4, TYPE: 7, REASON: 7 };

function cellsOf(
  { of, type, reason, fieldPath, firstAt, lastAt, count }: PodEvent,
  now: number,
  withPod: boolean,
): readonly string[] {
  const age =
    count > 1 ? `${formatAge(now - lastAt)} (x${count} over ${formatAge(now - firstAt)})` : formatAge(now - lastAt);
  const container = /\{(.*)\}$/.exec(fieldPath ?? '')?.[1];
  const namespace = of.kind === 'Node' ? 'node/' : of.namespace === 'default' ? '' : `${of.namespace}/`;
  return [age, type, reason, ...(withPod ? [`${namespace}${of.name}${container ? `{${container}}` : ''}`] : [])];
}

/** The message beside the rest where it fits, else below it. */
function told({ message }: PodEvent, before: string, indent: string, columns: number): readonly string[] {
  const text = message.trim().replace(/\s+/g, ' ');
  if (before.length + 2 + text.length <= columns) return [`${before}  ${text}`];
  return [before.trimEnd(), ...wrap(text, columns, `${indent}  `, `${indent}  `)];
}
