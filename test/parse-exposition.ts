/** One family of a Prometheus text, as a scraper sees it. */
export interface ParsedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Reads the Prometheus text format 0.0.4, and throws at the first thing that is not as the format wants it: it is
 * stricter than Prometheus, which lets HELP, TYPE and the order of lines be.
 */
export function parseExposition(text: string): ReadonlyMap<string, ParsedFamily> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is not ended');
  const families = new Map<string, ParsedFamily & { readonly samples: ParsedSample[] }>();
  const seen = new Set<string>();
  let current: (ParsedFamily & { readonly samples: ParsedSample[] }) | undefined;
  let help: { readonly name: string; readonly text: string } | undefined;

  for (const line of text.split('\n').slice(0, -1)) {
    const helpLine = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (helpLine) {
      help = { name: helpLine[1] ?? '', text: unescaped(helpLine[2] ?? '') };
      continue;
    }
    const typeLine = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/.exec(line);
    if (typeLine) {
      const [, name = '', type = ''] = typeLine;
      if (help?.name !== name) throw new Error(`${name}: no HELP before TYPE`);
      if (families.has(name)) throw new Error(`${name}: told twice`);
      current = { name, help: help.text, type, samples: [] };
      families.set(name, current);
      continue;
    }
    const sample = parseSample(line);
    if (!current || !namesOf(current).includes(sample.name)) throw new Error(`${line}: not of the family before it`);
    const identity = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted()]);
    if (seen.has(identity)) throw new Error(`${line}: told twice`);
    seen.add(identity);
    current.samples.push(sample);
  }
  for (const family of families.values()) check(family);
  return families;
}

function namesOf({ name, type }: ParsedFamily): readonly string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

function parseSample(line: string): ParsedSample {
  const whole = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (!whole) throw new Error(`${line}: not a sample`);
  const [, name = '', inside, number = ''] = whole;
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number);
  if (Number.isNaN(value) && number !== 'NaN') throw new Error(`${line}: not a number`);
  return { name, labels: inside === undefined ? {} : parseLabels(inside, line), value };
}

function parseLabels(text: string, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,(?=.)|$)/.exec(rest);
    if (!pair) throw new Error(`${line}: bad labels at ${rest}`);
    const [whole, name = '', value = ''] = pair;
    if (name in labels) throw new Error(`${line}: label ${name} twice`);
    labels[name] = unescaped(value);
    rest = rest.slice(whole.length);
  }
  return labels;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));
}

function check(family: ParsedFamily): void {
  const { name, type, samples } = family;
  if (samples.length === 0) throw new Error(`${name}: no samples`);
  // The kubelet has some that do not.
  if (type === 'counter' && !/_total$|_bytes$|^kubelet_(?:evictions|preemptions)$/.test(name))
    throw new Error(`${name}: a counter ends in _total`);
  if (type !== 'gauge' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name}: below zero`);
  if (type === 'histogram') checkHistogram(family);
}

function checkHistogram({ name, samples }: ParsedFamily): void {
  const series = new Map<string, ParsedSample[]>();
  for (const sample of samples) {
    const key = JSON.stringify(Object.entries(sample.labels).filter(([label]) => label !== 'le'));
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, ofSeries] of series) {
    const buckets = ofSeries.filter((sample) => sample.name === `${name}_bucket`);
    const counts = ofSeries.filter((sample) => sample.name === `${name}_count`);
    const sums = ofSeries.filter((sample) => sample.name === `${name}_sum`);
    const limits = buckets.map(({ labels }) => (labels['le'] === '+Inf' ? Infinity : Number(labels['le'])));
    const rises = (numbers: readonly number[], strictly: boolean): boolean =>
      numbers.every((each, index) => {
        const before = numbers[index - 1] ?? -Infinity;
        return strictly ? each > before : each >= before;
      });
    if (!rises(limits, true)) throw new Error(`${name}${key}: the limits of the buckets do not rise`);
    const numbers = buckets.map(({ value }) => value);
    if (!rises(numbers, false)) throw new Error(`${name}${key}: the buckets do not add up`);
    if (limits.at(-1) !== Infinity) throw new Error(`${name}${key}: no last bucket`);
    if (counts.length !== 1 || sums.length !== 1) throw new Error(`${name}${key}: needs one sum and one count`);
    if (counts[0]?.value !== numbers.at(-1)) throw new Error(`${name}${key}: the count is not that of the last bucket`);
  }
}
