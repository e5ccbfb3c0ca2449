const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** Milliseconds as a script has them, without units that are 0: `2h`, `1m20s`, `1.5s`, `-1h`; whole seconds from a minute on. */
export function briefDuration(milliseconds: number): string {
  const sign = milliseconds < 0 ? '-' : '';
  const size = Math.abs(milliseconds);
  if (size < 60_000) return `${sign}${Number((size / 1_000).toFixed(size < 10_000 ? 1 : 0))}s`;
  let rest = Math.round(size / 1_000) * 1_000;
  const parts = UNITS.map(([unit, name]) => {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    return count === 0 ? '' : `${count}${name}`;
  });
  return sign + parts.join('');
}
