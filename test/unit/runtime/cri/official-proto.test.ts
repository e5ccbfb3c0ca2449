import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';

/** The release our file says what it says from. */
const WRITTEN_FROM = 36;

const official = officialFile();
const theirs = facts(official);
const ours = facts('src/runtime/cri/api.proto');

test('our CRI file names what the published one names: messages, fields, numbers, types, enum values and calls', () => {
  expect(theirs.length).toBeGreaterThan(700);
  // A later release may only have added to the protocol; what it has changed or taken away fails here.
  const comparable = releaseOf(official) > WRITTEN_FROM ? theirs.filter((fact) => ours.includes(fact)) : theirs;
  expect(ours).toEqual(comparable);
});

/** One line per fact, sorted: `Mount.readonly: bool = 3`. */
function facts(path: string): readonly string[] {
  const { root } = protobuf.parse(readFileSync(path, 'utf8'), { keepCase: true });
  return factsOf(root.lookup('runtime.v1'), '').sort();
}

function factsOf(item: protobuf.ReflectionObject | null, prefix: string): string[] {
  if (item instanceof protobuf.Enum) {
    return [`enum ${prefix}`, ...Object.entries(item.values).map(([name, value]) => `${prefix}.${name} = ${value}`)];
  }
  if (item instanceof protobuf.Type) {
    return [
      `message ${prefix}`,
      ...item.fieldsArray.map((field) => fieldFact(field, prefix)),
      ...nestedFacts(item, prefix),
    ];
  }
  if (item instanceof protobuf.Service) {
    return [`service ${prefix}`, ...item.methodsArray.map((method) => callFact(method, prefix))];
  }
  return item instanceof protobuf.Namespace ? nestedFacts(item, prefix) : [];
}

function nestedFacts(item: protobuf.NamespaceBase, prefix: string): string[] {
  return item.nestedArray.flatMap((nested) => factsOf(nested, prefix ? `${prefix}.${nested.name}` : nested.name));
}

function fieldFact(field: protobuf.Field, message: string): string {
  const label = field.repeated ? 'repeated ' : '';
  const type = field instanceof protobuf.MapField ? `map<${field.keyType}, ${field.type}>` : field.type;
  const oneof = field.partOf ? ` in ${field.partOf.name}` : '';
  const deprecated = field.getOption('deprecated') === true ? ' deprecated' : '';
  return `${message}.${field.name}: ${label}${type} = ${field.id}${oneof}${deprecated}`;
}

function callFact(
  { name, requestType, requestStream, responseType, responseStream }: protobuf.Method,
  service: string,
): string {
  const stream = (streamed: boolean | undefined): string => (streamed ? 'stream ' : '');
  return `${service}.${name}: ${stream(requestStream)}${requestType} -> ${stream(responseStream)}${responseType}`;
}

function officialFile(): string {
  const { RXLET_OFFICIAL_CRI_PROTO: given, RXLET_CACHE: cache = join(homedir(), '.cache/rxlet') } = process.env;
  const path = given ?? join(cache, 'cri-api/api.proto');
  if (!existsSync(path)) throw new Error(`${path} is missing: run scripts/fetch-official-cri`);
  return path;
}

/** 36 for Debian's version 0.36.4-1, which the fetching script writes beside the file; ours where nothing says so. */
function releaseOf(path: string): number {
  const file = join(dirname(path), 'version');
  const [, minor] = existsSync(file) ? readFileSync(file, 'utf8').split('.') : [];
  return minor === undefined ? WRITTEN_FROM : Number(minor);
}
