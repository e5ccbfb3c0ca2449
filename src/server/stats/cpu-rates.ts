/** Average use of the CPU between the last two looks at something, in billionths of a core; nothing at the first. */
export type CpuRates = (key: string, nanoseconds: number, at: number) => number | undefined;

/** Milliseconds between two looks below which the average would say little. */
const LEAST = 500;
/** Milliseconds after which what was not looked at any more is forgotten. */
const MEMORY = 600_000;

/** For runtimes and cgroups that tell only sums. `at` is in milliseconds and only ever compared with itself. */
export function cpuRates(): CpuRates {
  const looks = new Map<string, { readonly nanoseconds: number; readonly at: number; readonly rate?: number }>();
  return (key, nanoseconds, at) => {
    const before = looks.get(key);
    if (before && at - before.at < LEAST && at >= before.at) return before.rate;
    for (const [other, look] of looks) if (at - look.at > MEMORY) looks.delete(other);
    const spent = before ? nanoseconds - before.nanoseconds : -1;
    const rate = before && spent >= 0 && at > before.at ? Math.round((1_000 * spent) / (at - before.at)) : undefined;
    looks.set(key, { nanoseconds, at, ...(rate === undefined ? {} : { rate }) });
    return rate;
  };
}
