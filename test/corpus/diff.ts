import type { Json, JsonObject } from './record.ts';

/** What stands at one place of two documents that should be alike; absent where there is nothing. */
export interface Gap {
  readonly path: string;
  readonly expected?: Json;
  readonly got?: Json;
}

/** Every place where two documents differ. Lists of things with a name or a type are compared by it, others by place. */
export function diff(expected: Json | undefined, got: Json | undefined, path = ''): readonly Gap[] {
  if (expected === undefined || got === undefined)
    return expected === got
      ? []
      : [{ path, ...(expected !== undefined && { expected }), ...(got !== undefined && { got }) }];
  if (Array.isArray(expected) && Array.isArray(got)) {
    const [a, b] = [byKey(expected), byKey(got)];
    if (a && b) return diffEntries(a, b, path);
    return diffEntries(Object.fromEntries(expected.entries()), Object.fromEntries(got.entries()), path);
  }
  if (isObject(expected) && isObject(got)) return diffEntries(expected, got, path);
  return expected === got ? [] : [{ path, expected, got }];
}

function diffEntries(expected: JsonObject, got: JsonObject, path: string): readonly Gap[] {
  const keys = new Set([...Object.keys(expected), ...Object.keys(got)]);
  return [...keys].flatMap((key) => diff(expected[key], got[key], path === '' ? key : `${path}.${key}`));
}

function byKey(items: readonly Json[]): JsonObject | undefined {
  for (const key of ['name', 'type']) {
    const names = items.map((item) => (isObject(item) ? item[key] : undefined));
    if (names.every((name) => typeof name === 'string') && new Set(names).size === names.length)
      return Object.fromEntries(items.map((item, index) => [String(names[index]), item]));
  }
  return undefined;
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** `path: expected / got`, on one line each where they are short. */
export function describeGap({ path, expected, got }: Gap): string {
  const [a, b] = [show(expected), show(got)];
  return a.length + b.length < 100 ? `${path}: ${a} / ${b}` : `${path}:\n      expected ${a}\n      got      ${b}`;
}

function show(json: Json | undefined): string {
  return json === undefined ? '(nothing)' : JSON.stringify(json);
}
