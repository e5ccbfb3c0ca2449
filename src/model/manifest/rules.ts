import type { FieldPath, Report } from '../schema/field-path.ts';
import type { Syntax } from './syntax.ts';

/** Small rules that most fields share. Each reports what is wrong with one value and says whether it is right. */

export function required(report: Report, path: FieldPath, value: string | undefined): value is string {
  if (value !== undefined && value !== '') return true;
  report(path, 'is required');
  return false;
}

export function obeys(report: Report, path: FieldPath, value: string | undefined, syntax: Syntax): void {
  const message = value === undefined || value === '' ? undefined : syntax(value);
  if (message !== undefined) report(path, `${JSON.stringify(value)} ${message}`);
}

export function oneOf(report: Report, path: FieldPath, value: string | undefined, allowed: readonly string[]): void {
  if (value === undefined || allowed.includes(value)) return;
  report(path, `${JSON.stringify(value)} must be one of ${allowed.map((text) => text || '""').join(', ')}`);
}

export function inRange(report: Report, path: FieldPath, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (value >= least && value <= most)) return;
  report(
    path,
    most === Number.POSITIVE_INFINITY
      ? `${value} must be at least ${least}`
      : `${value} must be between ${least} and ${most}`,
  );
}

/** Reports every text that stands in the list before. `paths` tells where each one stands. */
export function distinct(report: Report, entries: readonly (readonly [FieldPath, string | undefined])[]): void {
  const seen = new Set<string>();
  for (const [path, text] of entries) {
    if (text === undefined || text === '') continue;
    if (seen.has(text)) report(path, `${JSON.stringify(text)} is given twice`);
    seen.add(text);
  }
}

export const LARGEST_INT32: number = 2 ** 31 - 1;
