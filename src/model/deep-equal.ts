/**
 * Whether two JSON values say the same. The order of keys does not count, and neither does the difference
 * between a key that is absent and one that is `undefined`.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b)) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalLists(a, b);
  return equalRecords(a, b);
}

/** Whether two objects hold the very same values; a key that is `undefined` in one of them may be absent in the other. */
export function isShallowEqual<T extends object>(a: T, b: T): boolean {
  if (a === b) return true;
  for (const key in a) if (a[key] !== b[key]) return false;
  for (const key in b) if (a[key] !== b[key]) return false;
  return true;
}

type PlainObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null;
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
}

function equalRecords(a: PlainObject, b: PlainObject): boolean {
  for (const key in a) {
    if (!deepEqual(a[key], b[key])) return false;
  }
  for (const key in b) {
    if (b[key] !== undefined && a[key] === undefined) return false;
  }
  return true;
}
