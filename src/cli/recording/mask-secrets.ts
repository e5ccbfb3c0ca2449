import { createHmac } from 'node:crypto';
import type { Secret } from '../../model/objects/local-object.ts';
import type { ObjectSet } from '../../model/objects/object-set.ts';
import { isRecord } from '../../model/schema/check-shape.ts';

export interface SecretMask {
  /** Takes note of the Secrets in a set; gives the same set with stand-ins for what they hold. */
  readonly learn: (objects: ObjectSet) => ObjectSet;
  /** Lets one text stand for another from now on, as a digest that was made of a Secret. */
  readonly replace: (text: string, standIn: string) => void;
  /** The text with stand-ins for all that is known to be secret. */
  readonly text: (text: string) => string;
  /** What stands for bytes; `undefined` where they are not known to be secret. */
  readonly bytes: (bytes: Uint8Array) => string | undefined;
}

/** Characters from which on a secret is looked for within longer texts too; a shorter one only where it stands alone. */
const SHORTEST_PART = 4;

/**
 * Lets stand-ins (`masked-3f2a9c1d77e0`) stand for what Secrets hold, wherever it turns up: in variables, commands,
 * files, messages. Equal secrets have equal stand-ins, different ones different, and without the key, which is kept
 * nowhere, none can be guessed from its stand-in. What was a Secret once stays masked when it has changed or gone.
 */
export function secretMask(key: Uint8Array | string): SecretMask {
  const standIns = new Map<string, string>();
  const known = new Map<Secret, Secret>();
  let last: readonly [ObjectSet, ObjectSet] | undefined;
  let parts: RegExp | undefined;
  let isStale = false;

  function standInOf(bytes: Uint8Array | string): string {
    return `masked-${createHmac('sha256', key).update(bytes).digest('hex').slice(0, 12)}`;
  }

  function note(text: string, standIn: string): void {
    if (text === '' || standIns.has(text)) return;
    standIns.set(text, standIn);
    isStale = true;
  }

  function conceal(text: string): string {
    const standIn = standInOf(text);
    note(text, standIn);
    if (text.trim() !== text) note(text.trim(), standInOf(text.trim()));
    return standIn;
  }

  function concealValue(encoded: string): string {
    if (encoded === '') return encoded;
    const bytes = Buffer.from(encoded, 'base64');
    const text = bytes.toString('utf8');
    const standIn = Buffer.from(text, 'utf8').equals(bytes) ? conceal(text) : standInOf(bytes);
    note(encoded, standIn);
    return base64(standIn);
  }

  /** As docker writes it, so that it can be read as before. */
  function concealConfig(encoded: string): string {
    const hidden = concealValue(encoded);
    try {
      const config = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) as unknown;
      return base64(JSON.stringify(concealAuths(config)));
    } catch {
      return hidden;
    }
  }

  function concealAuths(value: unknown, name = ''): unknown {
    if (typeof value === 'string') return name === 'auth' ? concealPair(value) : value === '' ? '' : conceal(value);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, concealAuths(inner, field)]));
  }

  /** User and password, by a colon, in base 64. */
  function concealPair(encoded: string): string {
    const pair = Buffer.from(encoded, 'base64').toString('utf8').replace(/\0+$/, '');
    note(encoded, standInOf(encoded));
    const colon = pair.indexOf(':');
    if (colon < 0) return base64(conceal(pair));
    return base64([pair.slice(0, colon), pair.slice(colon + 1)].map((part) => part && conceal(part)).join(':'));
  }

  function masked(secret: Secret): Secret {
    const data = Object.entries(secret.data).map(([name, value]) => [
      name,
      name === '.dockerconfigjson' || name === '.dockercfg' ? concealConfig(value) : concealValue(value),
    ]);
    return { ...secret, data: Object.fromEntries(data) as Secret['data'] };
  }

  function maskedOnce(secret: Secret): Secret {
    const before = known.get(secret);
    if (before) return before;
    const after = masked(secret);
    known.set(secret, after);
    return after;
  }

  return {
    learn: (objects) => {
      if (last?.[0] === objects) return last[1];
      const byKey = [...objects.byKey].map(
        ([name, object]) => [name, object.kind === 'Secret' ? maskedOnce(object) : object] as const,
      );
      const after = { ...objects, byKey: new Map(byKey) };
      const present = new Set(objects.byKey.values());
      for (const secret of known.keys()) if (!present.has(secret)) known.delete(secret);
      last = [objects, after];
      return after;
    },
    replace: note,
    text: (text) => {
      if (standIns.size === 0) return text;
      const whole = standIns.get(text);
      if (whole !== undefined) return whole;
      if (isStale) {
        isStale = false;
        const long = [...standIns.keys()].filter(({ length }) => length >= SHORTEST_PART);
        const sorted = long.toSorted((a, b) => b.length - a.length).map(escaped);
        parts = sorted.length > 0 ? new RegExp(sorted.join('|'), 'g') : undefined;
      }
      return parts ? text.replace(parts, (found) => standIns.get(found) ?? found) : text;
    },
    bytes: (bytes) => (standIns.size === 0 ? undefined : standIns.get(Buffer.from(bytes).toString('base64'))),
  };
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
