import { obeys } from '../manifest/rules.ts';
import { dataKey } from '../manifest/syntax.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';

interface DataEntry {
  readonly key: string;
  readonly path: FieldPath;
  /** Bytes. */
  readonly size: number;
}

/** Bytes that the values of one ConfigMap or Secret may have together, as in the API. */
const LARGEST_DATA = 1024 * 1024;

/** Rules that the data of config maps and secrets share. Says nothing of any value but how long it is. */
export function checkData(entries: readonly DataEntry[], report: Report): void {
  for (const { key, path } of entries) obeys(report, path, key, dataKey);
  const size = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (size > LARGEST_DATA)
    report([entries[0]?.path[0] ?? 'data'], `must not be larger than 1 MiB in all (${size} bytes)`);
}

export function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

export function sizeOfBase64(text: string): number {
  const digits = text.replace(/[\r\n=]/g, '').length;
  return Math.floor((digits * 3) / 4);
}
