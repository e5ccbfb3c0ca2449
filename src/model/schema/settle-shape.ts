import { argumentOf, isRecord, type Schema } from './check-shape.ts';

/**
 * The form in which the API would hold a value that passed `checkShape`: fields that are `null` are gone, quantities
 * are strings, and `null` in a map of strings is the empty string (as Go's decoder leaves it).
 */
export function settleShape(schema: Schema, type: string, value: unknown): unknown {
  const itemType = argumentOf('Array', type);
  if (itemType !== undefined && Array.isArray(value)) {
    return value.map((item: unknown) => settleShape(schema, itemType, item));
  }
  const valueType = argumentOf('Map', type);
  if (valueType !== undefined && isRecord(value)) {
    return mapEntries(value, (_key, item) =>
      item === null && valueType === 'string' ? '' : settleShape(schema, valueType, item),
    );
  }
  const fields = schema[type];
  if (fields && isRecord(value))
    return mapEntries(value, (name, item) => settleShape(schema, fields[name] ?? 'any', item));
  return settleScalar(type, value);
}

function settleScalar(type: string, value: unknown): unknown {
  if (type === 'Quantity' && (typeof value === 'number' || typeof value === 'bigint')) return String(value);
  return typeof value === 'bigint' ? Number(value) : value;
}

function mapEntries(
  record: Readonly<Record<string, unknown>>,
  settle: (key: string, value: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(record).map(([key, value]): [string, unknown] => [key, settle(key, value)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== undefined));
}
