import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';
import type { RuntimeResult } from './sample.ts';
import { markdownTables, plainTables } from './print-tables.ts';
import { tablesOf } from './tables.ts';

/** All that one run of the bench has found out, and where. */
export interface Report {
  /** ISO 8601. */
  readonly at: string;
  /** The version of rxlet that was measured, as git tells it. */
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  /** How many processes wanted to run in the last minute when the bench began: it wants 0. */
  readonly load: number;
  readonly runtimes: readonly RuntimeResult[];
}

/** The same without results: to be made before the first of them. */
export function beginReport(home: string): Omit<Report, 'runtimes'> {
  const all = cpus();
  return {
    at: new Date().toISOString(),
    commit: git(home),
    node: process.version,
    machine: `${all.length} × ${all[0]?.model.trim() ?? '?'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    load: loadavg()[0] ?? 0,
  };
}

/** Several runs as one, of the machine and the time of the first; those of one runtime are put together. */
export function joinReports(reports: readonly Report[]): Report {
  const [first] = reports;
  if (!first) throw new Error('there is no report');
  const all = reports.flatMap(({ runtimes }) => runtimes);
  const names = [...new Set(all.map(({ runtime }) => runtime))];
  return {
    ...first,
    runtimes: names.flatMap((name) => {
      const these = all.filter(({ runtime }) => runtime === name);
      return these.slice(0, 1).map((one) => ({ ...one, samples: these.flatMap(({ samples }) => samples) }));
    }),
  };
}

function git(home: string): string {
  try {
    return execFileSync('git', ['-C', home, 'describe', '--always', '--dirty'], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  } catch {
    return 'unknown';
  }
}

export function printReport(report: Report, form: 'plain' | 'markdown'): string {
  const { at, commit, node, machine, load, runtimes } = report;
  const tables = runtimes.flatMap(tablesOf);
  const where = `rxlet ${commit} on Node ${node}, ${at.slice(0, 16).replace('T', ' ')} UTC. ${machine}; load ${load.toFixed(1)} at the start.`;
  const failures = runtimes.flatMap(({ version, samples }) =>
    samples.flatMap(({ part, agent, pods, error }) =>
      error === undefined ? [] : [`FAILED: ${version}, ${agent}, ${part} with ${pods} pods: ${error}`],
    ),
  );
  return [where, form === 'markdown' ? markdownTables(tables) : plainTables(tables), failures.join('\n')]
    .filter((text) => text !== '')
    .join('\n\n');
}
