/** How labels and tracks share the columns of a terminal. */
export interface TrackSheet {
  /** Characters that a label has, and between it and its track. */
  readonly side: number;
  readonly gap: string;
  /** Characters that a track has. */
  readonly width: number;
}

/** No line is longer than `columns`; labels are not cut below `mostShort` on a terminal of usual width. */
export function trackSheet(labels: readonly string[], columns: number, mostShort: number): TrackSheet {
  const longest = Math.max(0, ...labels.map((label) => label.length));
  const side = Math.max(0, Math.min(longest, Math.max(mostShort, Math.floor(columns / 3)), columns - 3));
  const gap = ' '.repeat(columns > 3 ? 2 : 0);
  return { side, gap, width: Math.max(1, columns - side - gap.length) };
}

/** A label and its track. */
export function trackLine({ side, gap }: TrackSheet, label: string, track: string): string {
  const short = label.length <= side ? label.padEnd(side) : `${label.slice(0, Math.max(0, side - 1))}…`.slice(0, side);
  return `${short}${gap}${track}`;
}

/** Texts above a track, each beginning at its place, and one at the right edge. */
export function axisLine(
  width: number,
  ticks: readonly { readonly at: number; readonly text: string }[],
  end: string,
): string {
  const cells = Array.from({ length: width }, () => ' ');
  for (const { at, text } of ticks) write(cells, Math.floor(at * width), text);
  write(cells, width - end.length, end);
  return cells.join('').trimEnd();
}

function write(cells: string[], at: number, text: string): void {
  for (const [index, letter] of Array.from(text).entries())
    if (at + index >= 0 && at + index < cells.length) cells[at + index] = letter;
}
