import { createHash } from 'node:crypto';
import { isObservable } from 'rxjs';

export interface ValueWriterConfig {
  /** What stands for a text; the text itself unless told. */
  readonly mask?: (text: string) => string;
  /** What stands for bytes; `undefined` where they may be told as they are. */
  readonly maskBytes?: (bytes: Uint8Array) => string | undefined;
  /** Puts down a JSON text and gives the number by which it can be meant; absent: all is written where it stands. */
  readonly define?: (text: string) => number;
}

/** Characters of JSON from which on a value is written once and meant by its number afterwards. */
const SHORTEST = 200;

/**
 * Writes values as JSON. What JSON has no form for has one here, by a key that begins with `$`:
 *
 * | value                | written as                                             |
 * | -------------------- | ------------------------------------------------------ |
 * | Map, Set             | `{"$map":[[key,value]]}`, `{"$set":[item]}`            |
 * | bytes                | `{"$text":"..."}` of UTF-8, else `{"$bytes":"digest"}` |
 * | an error             | `{"$error":{"name":...,"message":...}}`                |
 * | what was told before | `{"$ref":number}`                                      |
 *
 * Functions and Observables are left out. Values are taken for unchangeable: one that is met again is not read again.
 */
export function valueWriter({
  mask = same,
  maskBytes = nothing,
  define,
}: ValueWriterConfig): (value: unknown) => string | undefined {
  const known = new WeakMap<object, string>();

  function write(value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
        return JSON.stringify(mask(value));
      case 'number':
        return Number.isFinite(value) ? String(value) : JSON.stringify({ $number: String(value) });
      case 'boolean':
        return String(value);
      case 'bigint':
        return JSON.stringify({ $bigint: String(value) });
      case 'object':
        return value === null ? 'null' : writeObject(value);
      default:
        return undefined;
    }
  }

  function writeObject(value: object): string | undefined {
    const before = known.get(value);
    if (before !== undefined) return before;
    if (isObservable(value)) return undefined;
    const text = bodyOf(value);
    if (!define || text.length < SHORTEST) return text;
    const reference = JSON.stringify({ $ref: define(text) });
    known.set(value, reference);
    return reference;
  }

  function bodyOf(value: object): string {
    if (Array.isArray(value)) return list(value);
    if (value instanceof Map) return `{"$map":${list([...value] as readonly unknown[])}}`;
    if (value instanceof Set) return `{"$set":${list([...value] as readonly unknown[])}}`;
    if (value instanceof Uint8Array) return bytes(value);
    if (value instanceof Error)
      return `{"$error":${fields(Object.assign({ message: value.message }, value, { name: value.name }))}}`;
    return fields(value);
  }

  function list(items: readonly unknown[]): string {
    return `[${items.map((item) => write(item) ?? 'null').join(',')}]`;
  }

  function fields(value: object): string {
    const written: string[] = [];
    for (const [key, field] of Object.entries(value)) {
      const text = write(field);
      if (text !== undefined) written.push(`${JSON.stringify(key.startsWith('$') ? `$${key}` : key)}:${text}`);
    }
    return `{${written.join(',')}}`;
  }

  function bytes(value: Uint8Array): string {
    const masked = maskBytes(value);
    if (masked !== undefined) return JSON.stringify({ $text: masked });
    const text = Buffer.from(value).toString('utf8');
    if (Buffer.from(text, 'utf8').equals(value)) return JSON.stringify({ $text: mask(text) });
    return JSON.stringify({ $bytes: createHash('sha256').update(value).digest('base64') });
  }

  return write;
}

function same(text: string): string {
  return text;
}

function nothing(): undefined {
  return undefined;
}
