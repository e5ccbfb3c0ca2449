import type { Family, Labels, Sample } from './family.ts';

/** Numbers that only grow, by their labels. */
export interface Counter {
  readonly add: (labels: Labels, amount?: number) => void;
  /** Forgets the numbers whose labels are gone for good. */
  readonly forget: (isGone: (labels: Labels) => boolean) => void;
  readonly family: () => Family;
}

export interface Histogram {
  readonly observe: (labels: Labels, value: number) => void;
  readonly forget: (isGone: (labels: Labels) => boolean) => void;
  readonly family: () => Family;
}

export function counter(name: string, help: string): Counter {
  const series = new Map<string, { readonly labels: Labels; value: number }>();
  return {
    add: (labels, amount = 1) => {
      const key = keyOf(labels);
      const known = series.get(key);
      if (known) known.value += amount;
      else series.set(key, { labels, value: amount });
    },
    forget: (isGone) => {
      forget(series, isGone);
    },
    family: () => ({
      name,
      help,
      type: 'counter',
      samples: [...series.values()].map(({ labels, value }) => ({ labels, value })),
    }),
  };
}

/** `buckets`: the upper limits, rising; the last, infinite one is added. */
export function histogram(name: string, help: string, buckets: readonly number[]): Histogram {
  const series = new Map<string, Distribution>();
  return {
    observe: (labels, value) => {
      const key = keyOf(labels);
      const known = series.get(key) ?? { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
      series.set(key, known);
      const index = buckets.findIndex((limit) => value <= limit);
      if (index >= 0) known.counts[index] = (known.counts[index] ?? 0) + 1;
      known.sum += value;
      known.count += 1;
    },
    forget: (isGone) => {
      forget(series, isGone);
    },
    family: () => ({
      name,
      help,
      type: 'histogram',
      samples: [...series.values()].flatMap((each) => samplesOf(each, buckets)),
    }),
  };
}

interface Distribution {
  readonly labels: Labels;
  /** How many fell into each bucket and into none before it. */
  readonly counts: number[];
  sum: number;
  count: number;
}

function samplesOf({ labels, counts, sum, count }: Distribution, buckets: readonly number[]): readonly Sample[] {
  let below = 0;
  const limited = buckets.map((limit, index): Sample => {
    below += counts[index] ?? 0;
    return { suffix: '_bucket', labels: { ...labels, le: String(limit) }, value: below };
  });
  return [
    ...limited,
    { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: count },
  ];
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join('\u0000');
}

function forget(series: Map<string, { readonly labels: Labels }>, isGone: (labels: Labels) => boolean): void {
  for (const [key, { labels }] of series) if (isGone(labels)) series.delete(key);
}
