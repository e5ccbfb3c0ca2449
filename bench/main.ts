import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureRuntime } from './measure-runtime.ts';
import { HELP, parseOptions, type BenchOptions } from './options.ts';
import { beginReport, joinReports, printReport, type Report } from './report.ts';
import type { RuntimeResult } from './sample.ts';
import { writeBetween } from './write-between.ts';

const args = process.argv.slice(2);
const home = process.env['RXLET_BENCH_HOME'] ?? process.cwd();
/** Where the run on a private node leaves what it has measured. */
const RESULT = 'RXLET_BENCH_RESULT';

try {
  const options = parseOptions(args);
  if (options === 'help') console.log(HELP);
  else if (process.env[RESULT] === undefined) process.exitCode = outside(options);
  else await inside(options, process.env[RESULT]);
} catch (error: unknown) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 2;
}

function outside(options: BenchOptions): number {
  const { json, from, markdown, write } = options;
  const report = from.length > 0 ? joinReports(from.map(readReport)) : measured(options);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, undefined, 1)}\n`);
  if (write !== undefined)
    writeFileSync(write, writeBetween(readFileSync(write, 'utf8'), printReport(report, 'markdown')));
  console.log(printReport(report, markdown ? 'markdown' : 'plain'));
  return report.runtimes.some(({ samples }) => samples.some(({ error }) => error !== undefined)) ? 1 : 0;
}

function readReport(file: string): Report {
  return JSON.parse(readFileSync(file, 'utf8')) as Report;
}

/** Has each runtime measured on a private node of its own, one after the other. */
function measured({ runtimes }: BenchOptions): Report {
  const begun = beginReport(home);
  const folder = mkdtempSync(join(tmpdir(), 'rxlet-bench-'));
  try {
    const results = runtimes.map((runtime): RuntimeResult => {
      const file = join(folder, `${runtime}.json`);
      const command = [process.execPath, process.argv[1] ?? '', ...args];
      const node = [join(home, 'scripts/lib/private-node'), '--runtime', runtime, '--name', `bench-${runtime}`, '--'];
      // If we are killed, the node goes with us.
      const { status } = spawnSync('setpriv', ['--pdeathsig', 'TERM', ...node, ...command], {
        stdio: 'inherit',
        env: { ...process.env, RXLET_BENCH_HOME: home, [RESULT]: file },
      });
      if (status !== 0) throw new Error(`nothing was measured on containerd ${runtime}`);
      return JSON.parse(readFileSync(file, 'utf8')) as RuntimeResult;
    });
    return { ...begun, runtimes: results };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inside(options: BenchOptions, file: string): Promise<void> {
  const node = process.env['RXLET_NODE'];
  if (node === undefined) throw new Error('this is no private node');
  const result = await measureRuntime(options, {
    ...{ home, node },
    tell: ({ agent, part, pods, values, error }) => {
      const figures = Object.entries(values).map(([key, value]) => `${key} ${value.toFixed(1)}`);
      console.error(`${agent} ${part} ${pods}: ${[...figures, ...(error === undefined ? [] : [error])].join(', ')}`);
    },
  });
  writeFileSync(file, JSON.stringify(result));
}
