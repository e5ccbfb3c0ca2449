const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span of milliseconds in at most two units, coarser as it grows, as `kubectl get` shows ages: `42s`, `3m7s`, `5h`. */
export function formatAge(span: number): string {
  if (span < 2 * MINUTE) return `${Math.max(0, Math.floor(span / SECOND))}s`;
  if (span < 10 * MINUTE) return twoUnits(span, [MINUTE, 'm'], [SECOND, 's']);
  if (span < 3 * HOUR) return `${Math.floor(span / MINUTE)}m`;
  if (span < 8 * HOUR) return twoUnits(span, [HOUR, 'h'], [MINUTE, 'm']);
  if (span < 2 * DAY) return `${Math.floor(span / HOUR)}h`;
  if (span < 8 * DAY) return twoUnits(span, [DAY, 'd'], [HOUR, 'h']);
  return `${Math.floor(span / DAY)}d`;
}

type Unit = readonly [length: number, name: string];

function twoUnits(span: number, [long, longName]: Unit, [short, shortName]: Unit): string {
  const rest = Math.floor((span % long) / short);
  return `${Math.floor(span / long)}${longName}${rest > 0 ? `${rest}${shortName}` : ''}`;
}
