import { parseQuantity } from '../quantity.ts';
import type { FieldPath, FieldProblem } from './field-path.ts';
import { suggestName } from './suggest-name.ts';

/**
 * The types of a Kubernetes API as plain data. A field's type is the name of another type of the same schema,
 * `Array<...>`, `Map<...>` (string keys) or one of
 *
 * | scalar          | JSON value                                                            |
 * | --------------- | --------------------------------------------------------------------- |
 * | `string`        | string                                                                |
 * | `bytes`         | string in base 64                                                     |
 * | `boolean`       | boolean                                                               |
 * | `int`, `int32`  | whole number that fits in 64 or 32 bits                               |
 * | `number`        | number                                                                |
 * | `Quantity`      | string or number, as `500m`                                           |
 * | `IntOrString`   | whole number of 32 bits, or string                                    |
 * | `Time`          | string as `2026-01-31T12:00:00Z`                                      |
 * | `Duration`      | string as `1h30m`                                                     |
 * | `any`           | anything                                                              |
 */
export type Schema = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ShapeProblem = FieldProblem;

/** Finds unknown fields and values of the wrong JSON type; `null` counts as absent. Says nothing about what values mean. */
export function checkShape(schema: Schema, type: string, value: unknown): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  check(type, value, []);
  return problems;

  function check(expected: string, given: unknown, path: FieldPath): void {
    if (given === null || given === undefined) return;
    const itemType = argumentOf('Array', expected);
    if (itemType !== undefined) {
      checkList(itemType, given, path);
      return;
    }
    const valueType = argumentOf('Map', expected);
    if (valueType !== undefined) {
      checkMap(valueType, given, path);
      return;
    }
    const scalar = SCALARS[expected];
    if (scalar) {
      const message = scalar(given);
      if (message !== undefined) problems.push({ path, message });
      return;
    }
    checkObject(expected, given, path);
  }

  function checkList(itemType: string, given: unknown, path: FieldPath): void {
    if (!Array.isArray(given)) {
      problems.push({ path, message: `must be a list, not ${describe(given)}` });
      return;
    }
    given.forEach((item: unknown, index) => {
      const itemPath = [...path, index];
      if (item === null || item === undefined) problems.push({ path: itemPath, message: 'must not be empty' });
      else check(itemType, item, itemPath);
    });
  }

  function checkMap(valueType: string, given: unknown, path: FieldPath): void {
    if (!isRecord(given)) {
      problems.push({ path, message: `must be a map, not ${describe(given)}` });
      return;
    }
    for (const [key, item] of Object.entries(given)) check(valueType, item, [...path, key]);
  }

  function checkObject(expected: string, given: unknown, path: FieldPath): void {
    const fields = schema[expected];
    if (!fields) throw new Error(`the schema has no type ${expected}`);
    if (!isRecord(given)) {
      problems.push({ path, message: `must be a map of fields, not ${describe(given)}` });
      return;
    }
    for (const [name, item] of Object.entries(given)) {
      const fieldType = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (fieldType === undefined)
        problems.push({ path: [...path, name], message: unknownField(name, Object.keys(fields)) });
      else check(fieldType, item, [...path, name]);
    }
  }
}

/** `X` for `Array<X>` or `Map<X>`, whichever is asked for. */
export function argumentOf(container: 'Array' | 'Map', type: string): string | undefined {
  return type.startsWith(`${container}<`) && type.endsWith('>') ? type.slice(container.length + 1, -1) : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownField(name: string, known: readonly string[]): string {
  const meant = suggestName(name, known);
  return meant === undefined ? 'unknown field' : `unknown field, did you mean ${meant}?`;
}

const SCALARS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  any: () => undefined,
  string: (value) => (typeof value === 'string' ? undefined : wrongString(value)),
  boolean: (value) => (typeof value === 'boolean' ? undefined : wrongBoolean(value)),
  int: (value) => wrongInteger(value, 64),
  int32: (value) => wrongInteger(value, 32),
  number: (value) => (isNumeric(value) ? undefined : `must be a number, not ${describe(value)}`),
  bytes: (value) =>
    typeof value === 'string' && BASE64.test(value.replace(/[\r\n]/g, '')) ? undefined : 'must be a string in base 64',
  Quantity: (value) =>
    (typeof value === 'string' || isNumeric(value)) && parseQuantity(String(value))
      ? undefined
      : `must be a quantity, for example 500m, 1.5 or 64Mi, not ${describe(value)}`,
  IntOrString: (value) => (typeof value === 'string' ? undefined : wrongInteger(value, 32)),
  Time: (value) =>
    typeof value === 'string' && TIME.test(value)
      ? undefined
      : `must be a time, for example "2026-01-31T12:00:00Z", not ${describe(value)}`,
  Duration: (value) =>
    typeof value === 'string' && DURATION.test(value)
      ? undefined
      : `must be a duration, for example "1m30s", not ${describe(value)}`,
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
/** Go's time.ParseDuration. */
const DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function wrongInteger(value: unknown, bits: number): string | undefined {
  const whole = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  if (!whole) return `must be a whole number, not ${describe(value)}`;
  const fits = BigInt.asIntN(bits, BigInt(value)) === BigInt(value);
  return fits ? undefined : `must fit in ${bits} bits`;
}

function wrongString(value: unknown): string {
  const hint = isNumeric(value) || typeof value === 'boolean' ? '; put it in quotes' : '';
  return `must be a string, not ${describe(value)}${hint}`;
}

function wrongBoolean(value: unknown): string {
  const hint = value === 'true' || value === 'false' ? '; take off the quotes' : '';
  return `must be true or false, not ${describe(value)}${hint}`;
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string')
    return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)}`;
  if (isNumeric(value)) return `the number ${value}`;
  if (typeof value === 'boolean') return `the boolean ${value ? 'true' : 'false'}`;
  return 'a map';
}
