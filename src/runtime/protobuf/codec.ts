import type { Buffer } from 'node:buffer';
import { itemsOf, type Enum, type Field, type Item, type Message, type Namespace } from './descriptor.ts';
import {
  readBool,
  readBytes,
  readDouble,
  readerOf,
  readInt64,
  readString,
  readUint64,
  readVarint,
  skip,
  WIRE,
  within,
  type Reader,
} from './wire-reader.ts';
import {
  writeBytes,
  writeDouble,
  writerOf,
  writeString,
  writeVarint,
  writeWithin,
  written,
  type Writer,
} from './wire-writer.ts';

/**
 * A message to bytes and back. In what is decoded a repeated field is always a list, and everything else that is not on
 * the wire is absent; 64-bit numbers are numbers, enums the names of their members, `bytes` are views of the answer.
 * What is encoded may leave out any field. Both throw on what is no such message.
 */
export interface Codec {
  readonly encode: (message: object) => Buffer;
  readonly decode: (bytes: Uint8Array) => object;
}

/**
 * Looks up messages by their full name. Nothing is prepared before a message is used, and nothing is compiled: at
 * start-up a message or two of each kind are all there is.
 */
export function codecs(descriptor: Namespace): (typeName: string) => Codec {
  const items = itemsOf(descriptor);
  const plans = new Map<string, Plan>();

  function planOf(name: string): Plan {
    const known = plans.get(name);
    if (known) return known;
    const item = items.get(name);
    if (!item || !('fields' in item)) throw new Error(`${name} is no message`);
    const plan: Plan = { byName: new Map(), byId: [], lists: [] };
    plans.set(name, plan); // before its fields are: a message may hold its own kind
    fill(plan, name, item);
    return plan;
  }

  function fill(plan: Plan, owner: string, { fields }: Message): void {
    for (const [name, field] of Object.entries(fields)) {
      const step = stepOf(name, field, kindOf(field.type, owner));
      plan.byName.set(name, step);
      plan.byId[field.id] = step;
      if (field.rule === 'repeated') plan.lists.push(name);
    }
  }

  function kindOf(type: string, owner: string): Kind {
    const scalar = SCALARS.get(type);
    if (scalar) return scalar;
    const [name, item] = resolve(items, type, owner);
    if ('values' in item) return enumKind(name, item);
    let plan: Plan | undefined;
    return {
      wire: WIRE.bytes,
      zero: () => decode((plan ??= planOf(name)), readerOf(NOTHING)),
      read: (reader) => within(reader, (inner) => decode((plan ??= planOf(name)), inner)),
      write: (writer, value) => {
        writeWithin(writer, () => {
          encode((plan ??= planOf(name)), value as object, writer);
        });
      },
    };
  }

  return (typeName) => ({
    encode: (message) => {
      const writer = writerOf();
      encode(planOf(typeName), message, writer);
      return written(writer);
    },
    decode: (bytes) => decode(planOf(typeName), readerOf(bytes)),
  });
}

/** How the fields of one message are read and written. */
interface Plan {
  readonly byName: Map<string, Step>;
  /** Sparse. */
  readonly byId: (Step | undefined)[];
  /** Names of the repeated fields. */
  readonly lists: string[];
}

interface Step {
  readonly read: (reader: Reader, wireType: number, into: Mutable) => void;
  readonly write: (writer: Writer, value: unknown) => void;
}

/** How one value is read and written, whatever field it stands in. */
interface Kind {
  readonly wire: number;
  /** What is meant where a map leaves the value out. */
  readonly zero: () => unknown;
  readonly read: (reader: Reader) => unknown;
  readonly write: (writer: Writer, value: unknown) => void;
}

type Mutable = Record<string, unknown>;

function decode({ byId, lists }: Plan, reader: Reader): object {
  const message: Mutable = {};
  for (const name of lists) message[name] = [];
  while (reader.at < reader.end) {
    const tag = readVarint(reader);
    const step = byId[tag >>> 3];
    if (step) step.read(reader, tag & 7, message);
    else skip(reader, tag & 7);
  }
  return message;
}

function encode({ byName }: Plan, message: object, writer: Writer): void {
  for (const [name, value] of Object.entries(message)) {
    if (value !== undefined && value !== null) byName.get(name)?.write(writer, value);
  }
}

function stepOf(name: string, field: Field, kind: Kind): Step {
  if (field.keyType !== undefined) return mapStep(name, field, kind);
  return field.rule === 'repeated' ? listStep(name, field, kind) : singleStep(name, field, kind);
}

function singleStep(name: string, { id }: Field, { wire, read, write }: Kind): Step {
  const tag = tagOf(id, wire);
  return {
    read: (reader, _, into) => {
      into[name] = read(reader);
    },
    write: (writer, value) => {
      writeVarint(writer, tag);
      write(writer, value);
    },
  };
}

/** Numbers of a list come packed, as proto3 has them, or one by one. */
function listStep(name: string, { id }: Field, { wire, read, write }: Kind): Step {
  const tag = tagOf(id, WIRE.bytes);
  const isPacked = wire !== WIRE.bytes;
  return {
    read: (reader, wireType, into) => {
      const list = into[name] as unknown[];
      if (!isPacked || wireType !== WIRE.bytes) list.push(read(reader));
      else {
        within(reader, (inner) => {
          while (inner.at < inner.end) list.push(read(inner));
        });
      }
    },
    write: (writer, value) => {
      const list = value as readonly unknown[];
      if (!isPacked) {
        for (const item of list) {
          writeVarint(writer, tag);
          write(writer, item);
        }
      } else if (list.length > 0) {
        writeVarint(writer, tag);
        writeWithin(writer, () => {
          for (const item of list) write(writer, item);
        });
      }
    },
  };
}

/** On the wire a map is a list of messages with a key, 1, and a value, 2; the CRI's keys are strings. */
function mapStep(name: string, { id }: Field, kind: Kind): Step {
  const tag = tagOf(id, WIRE.bytes);
  const keyTag = tagOf(1, WIRE.bytes);
  const valueTag = tagOf(2, kind.wire);
  return {
    read: (reader, _, into) => {
      const map = (into[name] ??= {}) as Mutable;
      within(reader, (inner) => {
        let key = '';
        let value = kind.zero();
        while (inner.at < inner.end) {
          const found = readVarint(inner);
          if (found === keyTag) key = readString(inner);
          else if (found === valueTag) value = kind.read(inner);
          else skip(inner, found & 7);
        }
        // Not an assignment: a key may be called `__proto__`.
        Object.defineProperty(map, key, {
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      });
    },
    write: (writer, value) => {
      for (const [key, item] of Object.entries(value as object)) {
        writeVarint(writer, tag);
        writeWithin(writer, () => {
          writeVarint(writer, keyTag);
          writeString(writer, key);
          writeVarint(writer, valueTag);
          kind.write(writer, item);
        });
      }
    },
  };
}

function tagOf(id: number, wire: number): number {
  return id * 8 + wire;
}

function enumKind(name: string, { values }: Enum): Kind {
  const names = new Map<number, string>();
  for (const [member, number] of Object.entries(values)) if (!names.has(number)) names.set(number, member);
  return {
    wire: WIRE.varint,
    zero: () => names.get(0) ?? 0,
    // A member that is newer than our file stays a number.
    read: (reader) => {
      const number = readVarint(reader);
      return names.get(number) ?? number;
    },
    write: (writer, value) => {
      const number = typeof value === 'number' ? value : values[String(value)];
      if (number === undefined) throw new Error(`${name} has no member ${String(value)}`);
      writeVarint(writer, number);
    },
  };
}

/** A name is looked for in the message that uses it, then further out. */
function resolve(items: ReadonlyMap<string, Item>, type: string, owner: string): readonly [string, Message | Enum] {
  for (let scope = owner; ; scope = scope.slice(0, Math.max(0, scope.lastIndexOf('.')))) {
    const name = scope === '' ? type : `${scope}.${type}`;
    const item = items.get(name);
    if (item && ('fields' in item || 'values' in item)) return [name, item];
    if (scope === '') throw new Error(`${owner} uses ${type}, which is not declared`);
  }
}

function number(read: (reader: Reader) => number): Kind {
  return {
    wire: WIRE.varint,
    zero: () => 0,
    read,
    write: (writer, value) => {
      writeVarint(writer, Number(value));
    },
  };
}

const NOTHING = new Uint8Array(0);

const SCALARS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['int32', number(readVarint)],
  ['uint32', number((reader) => readVarint(reader) >>> 0)],
  ['int64', number(readInt64)],
  ['uint64', number(readUint64)],
  ['bool', { wire: WIRE.varint, zero: () => false, read: readBool, write: writeBool }],
  ['double', { wire: WIRE.fixed64, zero: () => 0, read: readDouble, write: writeDoubleValue }],
  ['string', { wire: WIRE.bytes, zero: () => '', read: readString, write: writeStringValue }],
  ['bytes', { wire: WIRE.bytes, zero: () => NOTHING, read: readBytes, write: writeBytesValue }],
]);

function writeBool(writer: Writer, value: unknown): void {
  writeVarint(writer, value === true ? 1 : 0);
}

function writeDoubleValue(writer: Writer, value: unknown): void {
  writeDouble(writer, Number(value));
}

function writeStringValue(writer: Writer, value: unknown): void {
  writeString(writer, String(value));
}

function writeBytesValue(writer: Writer, value: unknown): void {
  writeBytes(writer, value as Uint8Array);
}
