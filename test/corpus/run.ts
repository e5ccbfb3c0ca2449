import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareCase, type CaseResult } from './compare-case.ts';
import { describeGap } from './diff.ts';
import { baselineOf, MEASURES } from './baseline.ts';
import { readCorpus } from './record.ts';
import type { Measure } from './allowed-differences.ts';

const HELP = `usage: npm run corpus -- FOLDER [--only GROUP[/CASE]] [--mode specs|requests|statuses|timelines] [--summary] [--all] [--json FILE] [--baseline FILE]
       npm run corpus -- FOLDER --mode real [--runtime 1.6|2] [--only GROUP[/CASE]] [--sample] [--at-once N] [--limit SECONDS] [--json FILE]`;

/** Compares our agent with the recordings in a folder and prints how it went. */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      mode: { type: 'string' },
      summary: { type: 'boolean', default: false },
      json: { type: 'string' },
      baseline: { type: 'string' },
      all: { type: 'boolean', default: false },
      // Of the mode `real`.
      runtime: { type: 'string' },
      'at-once': { type: 'string', default: '8' },
      limit: { type: 'string', default: '90' },
      sample: { type: 'boolean', default: false },
    },
  });
  const [folder] = positionals;
  if (folder === undefined) {
    console.error(HELP);
    return 2;
  }
  const isReal = values.mode === 'real';
  const measures = isReal ? MEASURES : measuresOf(values.mode);
  const { cases, leftOut } = readCorpus(folder);
  const only = values.only;
  const chosen = cases.filter(
    ({ id }) => only === undefined || id === only || id.startsWith(`${only}/`) || id.startsWith(only),
  );
  if (isReal) {
    const { runReal } = await import('./real/run-real.ts');
    await runReal(chosen, {
      most: Number(values['at-once']),
      limit: Number(values.limit),
      sample: values.sample,
      ...(values.json !== undefined && { json: values.json }),
    });
    return 0;
  }
  const results = chosen.map((each) => {
    const result = compareCase(each);
    if (!values.summary) print(result, measures, values.all);
    return result;
  });
  if (only === undefined) for (const id of leftOut) console.log(`${id}: left out, its manifest is not kept`);
  printGroups(results);
  printRules(results);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 1)}\n`);
  if (values.baseline !== undefined)
    writeFileSync(values.baseline, `${JSON.stringify(baselineOf(results), undefined, 2)}\n`);
  const count = (measure: Measure): string =>
    `${results.filter(({ equal }) => equal[measure]).length} of ${results.length} ${measure} equal`;
  console.log(`beside that: ${count('specs')}, ${count('timelines')}`);
  console.log(`corpus: ${count('requests')}, ${count('statuses')}`);
  return 0;
}

function measuresOf(mode: string | undefined): readonly Measure[] {
  if (mode === undefined) return MEASURES;
  const measure = MEASURES.find((each) => each === mode);
  if (!measure) throw new Error(`there is no mode ${mode}\n${HELP}`);
  return [measure];
}

/** Differences that nothing allows; with `all` the others too. */
function print({ id, differences, problems, troubles }: CaseResult, measures: readonly Measure[], all: boolean): void {
  const shown = differences.filter(({ measure, rule }) => measures.includes(measure) && (all || rule === undefined));
  if (shown.length === 0 && troubles.length === 0) return;
  console.log(`\n${id}`);
  for (const problem of problems) console.log(`  refused: ${problem}`);
  for (const trouble of troubles) console.log(`  TROUBLE: ${trouble}`);
  for (const difference of shown) {
    const { measure, pod, rule } = difference;
    console.log(`  ${measure} ${pod} ${describeGap(difference)}${rule === undefined ? '' : ` [${rule}]`}`);
  }
}

function printGroups(results: readonly CaseResult[]): void {
  const groups = [...new Set(results.map(({ group }) => group))].sort();
  console.log(`\n${'group'.padEnd(14)} cases  ${MEASURES.map((measure) => measure.padStart(9)).join('  ')}`);
  for (const group of groups) {
    const own = results.filter((result) => result.group === group);
    const numbers = MEASURES.map((measure) => own.filter(({ equal }) => equal[measure]).length);
    const columns = numbers.map((number) => String(number).padStart(9)).join('  ');
    console.log(`${group.padEnd(14)} ${String(own.length).padStart(5)}  ${columns}`);
  }
}

function printRules(results: readonly CaseResult[]): void {
  const uses = new Map<string, Set<string>>();
  for (const { id, differences } of results)
    for (const { rule } of differences) if (rule !== undefined) uses.set(rule, (uses.get(rule) ?? new Set()).add(id));
  if (uses.size > 0) console.log('\ndifferences that are allowed, and in how many cases:');
  for (const [rule, ids] of [...uses].sort()) console.log(`  ${rule}: ${ids.size}`);
}
