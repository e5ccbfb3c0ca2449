import type { TraceEvent } from '../../streams/trace/trace-event.ts';
import { LEGEND, marbleRows, type MarbleRow } from './marble-rows.ts';
import { axisLine, trackLine, trackSheet } from './track-sheet.ts';
import { wrap } from './wrap.ts';

export interface MarbleWindow {
  /** The right edge: milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds from edge to edge. */
  readonly span: number;
  /** Characters that a line may have. */
  readonly columns: number;
}

/**
 * Draws the last `span` milliseconds of every stream as a row of marbles:
 *
 * ```text
 *                     -4s      -3s      -2s      -1s     now
 * changes             -a------------------------------------
 * web-n1              -s======o-----------------------------
 * run_podsandbox      ---===o-------------------------------
 * ```
 *
 * What happened at once stands side by side, in order; equal marks in one place are one. No line is longer than
 * `columns`. `paint` gives a finished row its looks.
 */
export function drawMarbles(
  events: readonly TraceEvent[],
  { now, span, columns }: MarbleWindow,
  paint: (track: string) => string = (track) => track,
): readonly string[] {
  const from = now - span;
  const rows = marbleRows(events)
    .map((row) => within(row, from, now))
    .filter(({ label, marks, openSince }) => FIXED.has(label) || marks.length > 0 || openSince !== undefined);
  const sheet = trackSheet(
    rows.map(({ label }) => label),
    columns,
    MOST_SHORT,
  );
  const { side, gap, width } = sheet;
  const lines = rows.map((row) => trackLine(sheet, row.label, paint(drawTrack(row, { from, span, width }))));
  const legend = LEGEND.flatMap((line) => wrap(line, columns, '', '  '));
  return [
    `${' '.repeat(side)}${gap}${axis(span, width)}`,
    ...lines,
    '',
    ...legend.map((line) => line.slice(0, columns)),
  ];
}

/** Shown even where nothing is on them. */
const FIXED: ReadonlySet<string> = new Set(marbleRows([]).map(({ label }) => label));

/** Labels of fixed streams are never cut on a terminal of usual width. */
const MOST_SHORT = 9;

function within({ label, marks, openSince }: MarbleRow, from: number, now: number): MarbleRow {
  return {
    label,
    marks: marks.filter(({ at }) => at >= from && at <= now),
    ...(openSince === undefined || openSince > now ? {} : { openSince }),
  };
}

interface Track {
  readonly from: number;
  readonly span: number;
  /** Characters. */
  readonly width: number;
}

function drawTrack({ marks, openSince }: MarbleRow, track: Track): string {
  const cells = Array.from({ length: track.width }, () => '-');
  const placed = place(marks, track);
  if (openSince !== undefined) cells.fill('=', column(openSince, track));
  for (const { mark, at } of placed) if (mark.since !== undefined) cells.fill('=', column(mark.since, track), at);
  for (const { mark, at } of placed) cells[at] = mark.symbol;
  return cells.join('');
}

interface Placed {
  readonly mark: Mark;
  readonly at: number;
}

type Mark = MarbleRow['marks'][number];

/** Gives each mark the place of its time, or the next that is free; at the right edge they move to the left together. */
function place(marks: readonly Mark[], track: Track): readonly Placed[] {
  const placed: { readonly mark: Mark; readonly ideal: number; at: number }[] = [];
  for (const mark of marks) {
    const ideal = column(mark.at, track);
    const last = placed.at(-1);
    if (last?.ideal === ideal && last.mark.symbol === mark.symbol) continue;
    placed.push({ mark, ideal, at: Math.max(ideal, last ? last.at + 1 : 0) });
  }
  const shown = placed.slice(-track.width);
  let free = track.width - 1;
  for (const each of shown.toReversed()) {
    each.at = Math.min(each.at, free);
    free = each.at - 1;
  }
  return shown;
}

function column(at: number, { from, span, width }: Track): number {
  return Math.max(0, Math.min(width - 1, Math.floor(((at - from) / span) * width)));
}

/** The times of the quarters, and where it is now. */
function axis(span: number, width: number): string {
  const quarters = width >= 40 ? [0, 1, 2, 3] : [0];
  const ticks = quarters.map((quarter) => {
    const seconds = Number(((span * (4 - quarter)) / 4_000).toFixed(1));
    return { at: quarter / 4, text: `-${seconds}s` };
  });
  return axisLine(width, ticks, 'now');
}
