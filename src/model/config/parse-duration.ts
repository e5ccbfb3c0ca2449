/** Milliseconds in each unit that Go's durations know. */
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** Milliseconds of a duration as Go writes it (`1h2m3.5s`, `100ms`, `0`), or `undefined` where the text is none. */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith('-');
  const parts = text.replace(/^[-+]/, '');
  if (parts === '0') return 0;

  let total = 0;
  let end = 0;
  for (const match of parts.matchAll(PART)) {
    const [all, amount = '', unit = ''] = match;
    total += Number(amount) * (UNITS[unit] ?? Number.NaN);
    end = match.index + all.length;
  }
  if (parts === '' || end !== parts.length) return undefined;
  return negative ? -total : total;
}
