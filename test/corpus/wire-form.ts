import protobuf from 'protobufjs';
import { criDescriptor } from '../../src/runtime/cri/descriptor.ts';
import type { Json, JsonObject } from './record.ts';

const root = protobuf.Root.fromJSON(criDescriptor as protobuf.INamespace).resolveAll();

/**
 * A message of the CRI as `crictl` shows it: names in snake case, enums as numbers, zero values left out, bytes as text.
 * Throws where a name is not one of the message: then it would not have reached the runtime.
 */
export function wireForm(typeName: string, message: unknown): JsonObject {
  return messageForm(root.lookupType(`runtime.v1.${typeName}`), message);
}

function messageForm(type: protobuf.Type, message: unknown): JsonObject {
  const values = message as Readonly<Record<string, unknown>>;
  const known = new Map(type.fieldsArray.map((field) => [camelCase(field.name), field]));
  const form: Record<string, Json> = {};
  for (const [name, value] of Object.entries(values)) {
    const field = known.get(name);
    if (!field) throw new Error(`${type.name} has no field ${name}`);
    const json = value === undefined || value === null ? undefined : fieldForm(field, value);
    if (json !== undefined) form[snakeCase(field.name)] = json;
  }
  return form;
}

function fieldForm(field: protobuf.Field, value: unknown): Json | undefined {
  if (field.map) {
    const entries = Object.entries(value as object).map(([key, item]): [string, Json] => [key, oneForm(field, item)]);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  }
  if (field.repeated) {
    const items = (value as readonly unknown[]).map((item) => oneForm(field, item));
    return items.length === 0 ? undefined : items;
  }
  const json = oneForm(field, value);
  return json === 0 || json === '' || json === false ? undefined : json;
}

function oneForm({ resolvedType }: protobuf.Field, value: unknown): Json {
  if (resolvedType instanceof protobuf.Type) return messageForm(resolvedType, value);
  if (resolvedType instanceof protobuf.Enum) {
    const number = typeof value === 'number' ? value : resolvedType.values[String(value)];
    if (number === undefined) throw new Error(`${resolvedType.name} has no member ${String(value)}`);
    return number;
  }
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  return value as Json;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/** The descriptor may hold names in either form. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
