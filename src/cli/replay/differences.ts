import { deepEqual } from '../../model/deep-equal.ts';
import { isRecord } from '../../model/schema/check-shape.ts';
import { formatFieldPath, type FieldPath } from '../../model/schema/field-path.ts';

/** A field that is another one now; absent on one side: `undefined`. */
export interface Difference {
  readonly path: string;
  readonly then: unknown;
  readonly now: unknown;
}

/** Milliseconds by which two waits may differ that mean the same: the clock went on while they were reckoned. */
const TOLERANCE = 100;
const WAITS = new Set<unknown>(['next', 'nextTry']);

/** Where two decisions differ, as JSON values. What stands for a secret may stand for any text. */
export function differences(then: unknown, now: unknown): readonly Difference[] {
  const found: Difference[] = [];
  compare(then, now, []);
  return found;

  function compare(a: unknown, b: unknown, path: FieldPath): void {
    if (deepEqual(a, b) || isAlike(a, b, path.at(-1))) return;
    if (Array.isArray(a) && Array.isArray(b)) {
      for (let index = 0; index < Math.max(a.length, b.length); index++) compare(a[index], b[index], [...path, index]);
    } else if (isRecord(a) && isRecord(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) compare(a[key], b[key], [...path, key]);
    } else found.push({ path: formatFieldPath(path), then: a, now: b });
  }
}

function isAlike(a: unknown, b: unknown, field: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return WAITS.has(field) && Math.abs(a - b) <= TOLERANCE;
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  return matches(a, b) || matches(b, a);
}

const STAND_IN = /masked-[0-9a-f]{12}/;

/** A short secret is masked on one side only, where it is part of a longer text. */
function matches(pattern: string, text: string): boolean {
  const parts = pattern.split(STAND_IN);
  if (parts.length === 1) return false;
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join('[^]*')}$`).test(text);
}
