import { parseDuration } from '../../model/config/parse-duration.ts';
import { parseQuantity, wholeValue } from '../../model/quantity.ts';
import { checkShape, isRecord } from '../../model/schema/check-shape.ts';
import type { FieldPath, Report } from '../../model/schema/field-path.ts';
import { settleShape } from '../../model/schema/settle-shape.ts';
import { suggestName } from '../../model/schema/suggest-name.ts';
import type { Bound } from './script.ts';
import { SCRIPT_SCHEMA } from './script-schema.ts';

/** The fields of one part of a script whose shape is known to be right. */
export interface Fields {
  readonly value: unknown;
  readonly path: FieldPath;
  readonly has: (name: string) => boolean;
  readonly names: readonly string[];
  readonly report: Report;
  readonly text: (name: string) => string | undefined;
  /** Takes it for a mistake where the field is missing, and reads the empty text then. */
  readonly needText: (name: string) => string;
  readonly number: (name: string) => number | undefined;
  readonly flag: (name: string) => boolean | undefined;
  /** Milliseconds. */
  readonly duration: (name: string, options?: { readonly mayBeNegative: boolean }) => number | undefined;
  readonly needDuration: (name: string, options?: { readonly mayBeNegative: boolean }) => number;
  /** Bytes, or whatever is counted. */
  readonly quantity: (name: string) => number | undefined;
  readonly oneOf: <T extends string>(name: string, known: readonly T[]) => T | undefined;
  readonly texts: (name: string) => readonly string[] | undefined;
  readonly bound: (name: string) => Bound | undefined;
  readonly part: (name: string) => Fields | undefined;
  /** The items of a list, or the single one that stands in its place. */
  readonly parts: (name: string) => readonly Fields[];
}

/** Reads fields; what a value means wrongly is reported, and read as if it were not there. */
export function fieldsOf(value: unknown, path: FieldPath, report: Report): Fields {
  const record = isRecord(value) ? value : {};
  const at = (name: string): FieldPath => [...path, name];

  function needText(name: string): string {
    const text = record[name];
    if (typeof text === 'string' && text !== '') return text;
    report(at(name), 'must be given');
    return '';
  }

  function duration(name: string, { mayBeNegative } = { mayBeNegative: false }): number | undefined {
    const text = record[name];
    const milliseconds = typeof text === 'string' ? parseDuration(text) : undefined;
    if (milliseconds !== undefined && milliseconds < 0 && !mayBeNegative) {
      report(at(name), 'must not be negative');
      return undefined;
    }
    return milliseconds;
  }

  function oneOf<T extends string>(name: string, known: readonly T[]): T | undefined {
    const text = record[name];
    if (typeof text !== 'string') return undefined;
    const found = known.find((one) => one === text);
    if (found === undefined) report(at(name), strange(text, known));
    return found;
  }

  return {
    value,
    path,
    names: Object.keys(record),
    has: (name) => record[name] !== undefined,
    report,
    text: (name) => textIn(record[name]),
    needText,
    number: (name) => {
      const number = record[name];
      return typeof number === 'number' ? number : undefined;
    },
    flag: (name) => {
      const flag = record[name];
      return typeof flag === 'boolean' ? flag : undefined;
    },
    duration,
    needDuration: (name, options) => {
      if (record[name] === undefined) report(at(name), 'must be given, for example "10m"');
      return duration(name, options) ?? 0;
    },
    quantity: (name) => {
      const quantity = parseQuantity(textIn(record[name]) ?? '');
      return quantity && wholeValue(quantity);
    },
    oneOf,
    texts: (name) => {
      const list = record[name];
      return Array.isArray(list) ? list.map(String) : undefined;
    },
    bound: (name) => boundIn(record[name], at(name), report),
    part: (name) => (isRecord(record[name]) ? fieldsOf(record[name], at(name), report) : undefined),
    parts: (name) => {
      const list = record[name];
      if (Array.isArray(list)) return list.map((item, index) => fieldsOf(item, [...path, name, index], report));
      return isRecord(list) ? [fieldsOf(list, at(name), report)] : [];
    },
  };
}

/** The value of one part as it is held once its shape was found right; reports what is wrong with it. */
export function shaped(type: string, value: unknown, path: FieldPath, report: Report): unknown {
  const problems = checkShape(SCRIPT_SCHEMA, type, value);
  for (const problem of problems) report([...path, ...problem.path], problem.message);
  return problems.length > 0 ? undefined : settleShape(SCRIPT_SCHEMA, type, value);
}

/** That a word is none of those that are known. */
export function strange(text: string, known: readonly string[]): string {
  const meant = suggestName(text, known);
  const choice = meant === undefined ? `it is one of ${known.join(', ')}` : `did you mean ${meant}?`;
  return `${JSON.stringify(text)} is not known here, ${choice}`;
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `3`, or `{atLeast: 2, atMost: 5}`. */
function boundIn(value: unknown, path: FieldPath, report: Report): Bound | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value)) return { atLeast: value, atMost: value };
  if (!isRecord(value)) {
    report(path, 'must be a whole number, or a map of atLeast and atMost');
    return undefined;
  }
  const fields = fieldsOf(shaped('Bound', value, path, report), path, report);
  const { number } = fields;
  return { atLeast: number('atLeast') ?? 0, atMost: number('atMost') ?? Number.POSITIVE_INFINITY };
}
