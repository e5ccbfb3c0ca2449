import { isRecord } from '../schema/check-shape.ts';

/**
 * Puts a patch over a document as RFC 7386 says: maps merge key by key, `null` takes a key away, and everything else,
 * lists too, replaces. This is how drop-ins and flags go over the configuration file, feature gates included.
 */
export function mergeConfig(document: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;

  const merged = new Map(Object.entries(isRecord(document) ? document : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergeConfig(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
