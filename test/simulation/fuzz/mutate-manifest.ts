import { readYaml } from '../../../src/sources/yaml/read-yaml.ts';

/** Numbers in [0, 1). */
type Random = () => number;

/** One way to spoil a manifest; texts and values are spoiled in one to three places. */
interface Mutation {
  readonly name: string;
  readonly text: string;
}

/** A manifest to begin with. */
export interface Original {
  readonly text: string;
  /** Its first document as JSON; absent where it cannot be read. */
  readonly json?: string;
}

export function original(text: string): Original {
  const [document] = readYaml(text).documents;
  return document ? { text, json: JSON.stringify(document.value, withoutBigInt) } : { text };
}

/** A manifest made of others: mostly still near to what it was, so that it gets past the first check. */
export function mutateManifest(originals: readonly Original[], random: Random): Mutation {
  const { text, json } = pick(originals, random);
  if (json === undefined || random() < 0.35) {
    const [name, spoil] = pick(TEXT_MUTATIONS, random);
    return { name, text: spoil(text, random, () => pick(originals, random).text) };
  }
  const value: unknown = JSON.parse(json);
  const names: string[] = [];
  for (let left = 1 + Math.floor(random() * 3); left > 0; left -= 1) {
    const place = pick(placesIn(value), random);
    const [name, spoil] = pick(VALUE_MUTATIONS, random);
    names.push(`${name} at ${String(place.key)}`);
    spoil(place, random);
  }
  const spoiled = JSON.stringify(value);
  const twice = random() < 0.05 ? spoiled.replace('"spec":', '"spec":{"x":1},"spec":') : spoiled;
  return { name: names.join(', '), text: `${twice}\n` };
}

function withoutBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

type Holder = Record<string | number, unknown>;

/** A field of a map or an item of a list. */
interface Place {
  readonly holder: Holder;
  readonly key: string | number;
}

function placesIn(value: unknown): readonly Place[] {
  const places: Place[] = [];
  const visit = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const key of Object.keys(holder)) {
      places.push({ holder: holder as Holder, key: Array.isArray(holder) ? Number(key) : key });
      visit((holder as Holder)[key]);
    }
  };
  visit({ document: value });
  return places;
}

const TEXT_MUTATIONS: readonly (readonly [string, (text: string, random: Random, another: () => string) => string])[] =
  [
    ['is cut off', (text, random) => text.slice(0, at(text, random))],
    ['lost its beginning', (text, random) => text.slice(at(text, random))],
    [
      'lost a part',
      (text, random) => {
        const from = at(text, random);
        return text.slice(0, from) + text.slice(from + Math.floor(random() * 40));
      },
    ],
    ['has odd characters', (text, random) => insert(text, pick(ODD_TEXTS, random), random)],
    ['has a line twice', (text, random) => changeLine(text, random, (line) => `${line}\n${line}`)],
    ['has a line indented otherwise', (text, random) => changeLine(text, random, (line) => ` ${line}`)],
    ['has a line without indentation', (text, random) => changeLine(text, random, (line) => line.trimStart())],
    ['has a tab', (text, random) => changeLine(text, random, (line) => `\t${line}`)],
    ['holds another document as well', (text, _random, another) => `${text}\n---\n${another()}`],
    ['holds half of another document', (text, random, another) => `${half(another(), random)}\n---\n${text}`],
    ['runs into another one', (text, random, another) => half(text, random) + half(another(), random)],
    ['is nested deeply', (text, random) => insert(text, pick(['[', '{a: ', '- '], random).repeat(5_000), random)],
    ['holds a bomb of aliases', (text) => `${BOMB}${text}`],
    ['holds a bomb where arguments belong', (text) => text.replace(/(?:args|command): .*/, `args: ${FLOW_BOMB}`)],
    ['holds itself', (text) => text.replace(/spec:/, 'spec: &self\n  x: *self')],
    ['is one long line', (text) => text.replaceAll('\n', ' ')],
    ['holds a long comment', (text) => `${text}\n# ${'x'.repeat(100_000)}\n`],
    ['holds many items', (text) => text.replace(/containers:/, `containers: [${'{name: a},'.repeat(1_000)}]\n  x:`)],
    ['has a byte order mark inside', (text, random) => insert(text, '\uFEFF', random)],
    ['has Windows lines', (text) => text.replaceAll('\n', '\r\n')],
    ['is a list', (text) => `- ${text.replaceAll('\n', '\n  ')}`],
    ['has another tag', (text, random) => text.replaceAll(': ', () => (random() < 0.1 ? ': !!binary ' : ': '))],
  ];

const BOMB = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index] ?? ''},`.repeat(9)}]\n`)
  .join('')}`;
const FLOW_BOMB = `[&a [x,x,x,x,x,x,x,x,x,x], &b [${'*a,'.repeat(10)}], &c [${'*b,'.repeat(10)}], &d [${'*c,'.repeat(10)}], &e [${'*d,'.repeat(10)}], ${'*e,'.repeat(10)}]`;

const VALUE_MUTATIONS: readonly (readonly [string, (place: Place, random: Random) => void])[] = [
  [
    'removes',
    ({ holder, key }) => (Array.isArray(holder) ? holder.splice(Number(key), 1) : Reflect.deleteProperty(holder, key)),
  ],
  ['replaces', ({ holder, key }, random) => (holder[key] = pick(ODD_VALUES, random))],
  ['replaces', ({ holder, key }, random) => (holder[key] = pick(ODD_NUMBERS, random))],
  ['replaces', ({ holder, key }, random) => (holder[key] = pick(ODD_TEXTS, random))],
  ['wraps in a list', ({ holder, key }) => (holder[key] = [holder[key]])],
  ['wraps in a map', ({ holder, key }) => (holder[key] = { value: holder[key] })],
  ['turns into text', ({ holder, key }) => (holder[key] = JSON.stringify(holder[key]))],
  [
    'repeats',
    ({ holder, key }) => {
      if (Array.isArray(holder)) holder.push(...Array.from({ length: 20 }, () => holder[Number(key)] as unknown));
      else holder[`${key}2`] = holder[key];
    },
  ],
  [
    'renames',
    ({ holder, key }, random) => {
      if (Array.isArray(holder)) return;
      const value = holder[key];
      Reflect.deleteProperty(holder, key);
      Object.defineProperty(holder, pick(ODD_KEYS, random), {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    },
  ],
  ['makes long', ({ holder, key }) => (holder[key] = 'long'.repeat(5_000))],
  [
    'nests',
    ({ holder, key }) => {
      let value = holder[key];
      for (let depth = 0; depth < 500; depth += 1) value = depth % 2 === 0 ? [value] : { a: value };
      holder[key] = value;
    },
  ],
];

const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  '',
  ' ',
  [1, 'a', null],
  { name: null },
];
const ODD_NUMBERS: readonly unknown[] = [
  0,
  -1,
  1.5,
  65_536,
  2 ** 31,
  2 ** 53,
  1e30,
  -1e30,
  1e-9,
  '1e400',
  '9223372036854775808',
  '1Ei',
  '-5m',
  'NaN',
  '1_0',
];
const ODD_TEXTS: readonly string[] = [
  '\u0000', '\u0007', '\u2028', '\u200b', '\ud83d\ude00', '\ud83d', 'ﬁ', 'e\u0301', '\u202e', 'ı', 'K', '../../etc',
  '/', '/..', '..', '.', '$(A)$$(B)$(', '%s%n', '{{.}}', '`id`', '$(reboot)', 'a'.repeat(300), 'a\nb', '\t', '"', "'",
  '}', ']', ':', '#', '&a', '*a', '<<: *a', '!!js/function x', '---', '...', '|', '>', '@', '0x', '\r', '127.0.0.1',
]; // prettier-ignore
const ODD_KEYS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  'Name',
  'a.b/c',
  '<<',
  '0',
  'ключ',
];

function pick<T>(all: readonly T[], random: Random): T {
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) throw new Error('there is nothing to choose from');
  return one;
}

function at(text: string, random: Random): number {
  return Math.floor(random() * text.length);
}

function half(text: string, random: Random): string {
  return text.slice(0, at(text, random));
}

function insert(text: string, part: string, random: Random): string {
  const offset = at(text, random);
  return text.slice(0, offset) + part + text.slice(offset);
}

function changeLine(text: string, random: Random, change: (line: string) => string): string {
  const lines = text.split('\n');
  const index = Math.floor(random() * lines.length);
  return lines.map((line, each) => (each === index ? change(line) : line)).join('\n');
}
