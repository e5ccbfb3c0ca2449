import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of `/proc` in a second, on every Linux that Node runs on. */
const TICKS = 100;
const KIB_PER_MIB = 1024;

/** Seconds of CPU that a process and its descendants have used, with those of ended children. */
export function treeCpu(pid: number): number {
  return sum(treeOf(pid), (each) => ticks(each, ['user', 'system', 'childUser', 'childSystem'])) / TICKS;
}

/** Seconds of CPU that a process alone has used. */
export function ownCpu(pid: number): number {
  return ticks(pid, ['user', 'system']) / TICKS;
}

/** MiB that a process and its descendants have in memory. */
export function treeMemory(pid: number): number {
  return sum(treeOf(pid), (each) => {
    const found = /^VmRSS:\s+(\d+)/m.exec(read(each, 'status'));
    return Number(found?.[1] ?? 0) / KIB_PER_MIB;
  });
}

/** The fields of `/proc/PID/stat`, counted from the one after the name, which may hold anything. */
const FIELDS = { parent: 1, user: 11, system: 12, childUser: 13, childSystem: 14 } as const;

function ticks(pid: number, fields: readonly (keyof typeof FIELDS)[]): number {
  const stat = statOf(pid);
  return sum(fields, (field) => Number(stat[FIELDS[field]] ?? 0));
}

function treeOf(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(statOf(pid)[FIELDS.parent] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  function below(pid: number): readonly number[] {
    return [pid, ...(children.get(pid) ?? []).flatMap(below)];
  }
  return below(root);
}

function statOf(pid: number): readonly string[] {
  const text = read(pid, 'stat');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Nothing where the process has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function sum<T>(of: readonly T[], amount: (each: T) => number): number {
  return of.reduce((total, each) => total + amount(each), 0);
}
