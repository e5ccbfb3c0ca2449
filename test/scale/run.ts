import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureScale, UNITS, type Measures } from './measure-scale.ts';

const HELP = `npm run bench:scale -- [--pods N,N...] [--churn N] [--json FILE]
  --pods   how many pods, each number measured on its own (1000,5000)
  --churn  how many pods go and come again (10000)
  --json   keeps the figures in a file`;

/** `npm run bench:scale`: measures each number of pods, and tells how much more one unit costs with more of them. */
export function main(args: readonly string[]): number {
  const { values } = parseArgs({
    args: [...args],
    options: {
      pods: { type: 'string', default: '1000,5000' },
      churn: { type: 'string', default: '10000' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const sizes = values.pods.split(',').map(Number);
  const churn = Number(values.churn);
  if ([...sizes, churn].some((n) => !Number.isInteger(n) || n < 1)) {
    console.error('--pods must be whole numbers with commas between, --churn one whole number');
    return 2;
  }
  const results = sizes.map((pods) => {
    console.error(`${pods} pods ...`);
    return measureScale(pods, churn);
  });
  console.log(table(sizes, results));
  if (values.json !== undefined) {
    const versions = { node: process.version, date: new Date().toISOString() };
    writeFileSync(values.json, `${JSON.stringify({ ...versions, churn, results }, null, 2)}\n`);
  }
  return 0;
}

function table(sizes: readonly number[], results: readonly Measures[]): string {
  const head = ['', ...sizes.map((pods) => `${pods} pods`), 'ratio'];
  const rows = UNITS.map(({ key, label }) => {
    const row = results.map((result) => result[key]);
    return [label, ...row.map((value) => value.toFixed(3)), ((row.at(-1) ?? 0) / (row[0] ?? 1)).toFixed(2)];
  });
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
