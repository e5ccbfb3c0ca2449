import { describe, expect, it } from 'vitest';
import type { FieldPath } from '../../../../src/model/schema/field-path.ts';
import { readYaml } from '../../../../src/sources/yaml/read-yaml.ts';

function valueOf(text: string): unknown {
  const { documents, problems } = readYaml(text);
  expect(problems).toEqual([]);
  expect(documents).toHaveLength(1);
  return documents[0]?.value;
}

function problemsOf(text: string): readonly string[] {
  return readYaml(text).problems.map(({ position, message }) => `${position.line}:${position.column} ${message}`);
}

describe('readYaml', () => {
  it.each<[rule: string, scalar: string, value: unknown]>([
    ['reads y as true', 'y', true],
    ['reads Yes as true', 'Yes', true],
    ['reads ON as true', 'ON', true],
    ['reads true as true', 'true', true],
    ['reads n as false', 'n', false],
    ['reads No as false', 'No', false],
    ['reads off as false', 'off', false],
    ['reads a word in mixed case as a text', 'tRue', 'tRue'],
    ['reads a word in double quotes as a text', '"y"', 'y'],
    ['reads a word in single quotes as a text', "'no'", 'no'],
    ['reads ~ as nothing', '~', null],
    ['reads NULL as nothing', 'NULL', null],
    ['reads an empty value as nothing', '', null],
    ['reads a number with a leading 0 as octal', '0640', 416],
    ['reads a number with 0o as octal', '0o640', 416],
    ['reads a number with 0x as hexadecimal', '0x1F', 31],
    ['reads a number with 0b as binary', '0b101', 5],
    ['reads a negative binary number', '-0b11', -3],
    ['reads a number that cannot be octal as decimal', '08', 8],
    ['passes over _ in numbers', '1_000', 1000],
    ['passes over + before numbers', '+12', 12],
    ['reads a fraction of nothing as a whole number', '1.0', 1],
    ['reads a fraction without a whole', '.5', 0.5],
    ['reads a number with an exponent', '1e3', 1000],
    ['reads a time of day as a text', '1:30', '1:30'],
    ['reads a date as a text', '2001-01-01', '2001-01-01'],
    ['reads a version as a text', '1.2.3', '1.2.3'],
    ['reads a quantity as a text', '100m', '100m'],
    ['reads a large whole number to its last digit', '9007199254740993', 9007199254740993n],
    ['takes a number with !!str for a text', '!!str 12', '12'],
    ['takes a text with !!int for a number', '!!int "3"', 3],
    ['decodes !!binary', '!!binary aGVsbG8=', 'hello'],
    ['takes a date with !!timestamp for a text', '!!timestamp 2001-01-01', '2001-01-01'],
  ])('%s', (_rule, scalar, value) => {
    expect(valueOf(`a: ${scalar}\nb: 1\n`)).toEqual({ a: value, b: 1 });
  });

  it('names keys by their value, so that a bare on is the key true', () => {
    expect(valueOf('on: 1\n7: 2\n"on": 3\n')).toEqual({ true: 1, 7: 2, on: 3 });
  });

  it('keeps a key that JavaScript has its own use for', () => {
    expect(Object.entries(valueOf('__proto__: 1\n') as object)).toEqual([['__proto__', 1]]);
  });

  it('reads JSON, also when it is indented with tabs', () => {
    expect(valueOf('{\n\t"a": ["\\ud83d\\ude00", 1.5],\n\t"b": {}\n}\n')).toEqual({ a: ['😀', 1.5], b: {} });
  });

  it('does not mind a byte order mark and Windows lines', () => {
    expect(valueOf('\uFEFFa: 1\r\nb: two\r\n')).toEqual({ a: 1, b: 'two' });
  });

  it('reads several documents and leaves out empty ones', () => {
    const { documents } = readYaml('# head\n---\na: 1\n---\n---\n# nothing\n---\nb: 2\n...\n');
    expect(documents.map(({ value, position }) => [value, position.line])).toEqual([
      [{ a: 1 }, 3],
      [{ b: 2 }, 8],
    ]);
  });

  it('finds nothing in an empty text or one of comments', () => {
    expect(readYaml('')).toEqual({ documents: [], problems: [] });
    expect(readYaml('# a\n\n   \n')).toEqual({ documents: [], problems: [] });
  });

  it('loses no document because of a broken one beside it', () => {
    const { documents, problems } = readYaml('a: 1\n---\nb: "x\n---\nc: 3\n');
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { c: 3 }]);
    expect(problems.length).toBeGreaterThan(0);
  });

  it('counts the lines of every document from the top of the file', () => {
    const { documents, problems } = readYaml('a: 1\n\n---\nb: 2\nb: 3\n---\r\n# c\r\nc: 1\n');
    expect(problems.map(({ position }) => position)).toEqual([{ line: 5, column: 1 }]);
    expect(documents.map(({ locate }) => locate(['c']).line)).toEqual([1, 8]);
  });

  it('heeds directives', () => {
    expect(readYaml('%YAML 1.1\n---\na: 0640\n').documents.map(({ value }) => value)).toEqual([{ a: 416 }]);
  });

  it('follows anchors and merge keys, and lets a key of the map itself win', () => {
    expect(valueOf('base: &b {one: 1, two: 2}\nc: *b\nd:\n  <<: *b\n  one: 3\ne: {<<: [{one: 0}, *b]}\n')).toEqual({
      base: { one: 1, two: 2 },
      c: { one: 1, two: 2 },
      d: { one: 3, two: 2 },
      e: { one: 0, two: 2 },
    });
  });

  it.each([
    ['refuses a key given twice, and says where', 'a: 1\nb:\n  c: 1\n  c: 2\n', '4:3 is given twice'],
    ['refuses the same key in two forms, and says where', 'true: 1\ny: 2\n', '2:1 is given twice'],
    ['refuses a tab as indentation, and says where', 'a:\n\tb: 1\n', '2:1 Tabs are not allowed as indentation'],
    ['refuses infinity, and says where', 'a: -.inf\n', '1:4 -.inf is no number that Kubernetes knows'],
    ['refuses not a number, and says where', 'a: .NaN\n', '1:4 .NaN is no number that Kubernetes knows'],
    ['refuses a control character, and says where', 'a: 1\nb: x\0y\n', '2:5 a control character may not stand here'],
    ['refuses an unknown anchor, and says where', 'a: *none\n', '1:4 no &none stands before this'],
    ['refuses an anchor within itself, and says where', 'a: &a [*a]\n', '1:8 *a contains itself'],
    ['refuses a list as a key, and says where', '? [a]\n: b\n', '1:3 a key must be a string, a number or a boolean'],
    ['refuses a merge of no map, and says where', 'a: {<<: 1}\n', '1:9 what << merges must be a map'],
    ['refuses a tag nobody knows, and says where', 'a: !pet cat\n', '1:4 Unresolved tag: !pet'],
    ['refuses JSON that is cut off, and says where', '{"a": {"b": 1}\n', '2:1 Flow map must end with a }'],
  ])('%s', (_rule, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('refuses a bomb of aliases before it grows', () => {
    const levels = Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}]`);
    expect(readYaml(`a0: &a0 x\n${levels.join('\n')}\n`).problems[0]?.message).toContain('aliases repeat more than');
  });

  it.each([
    ['brackets', '['.repeat(90_000)],
    ['closed brackets', '['.repeat(40_000) + ']'.repeat(40_000)],
    // These once took the whole process with them.
    ['dashes', '- '.repeat(40_000)],
    ['question marks', '? '.repeat(40_000)],
    ['indentation', Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
    ['dashes behind a quote that is left open', `a: "\n---\n${'- '.repeat(40_000)}`],
  ])('refuses nesting without end, by %s', (_what, text) => {
    expect(readYaml(text).problems.at(-1)?.message).toBe('the document is nested too deeply');
  });

  it('refuses aliases that repeat each other ever more deeply', () => {
    const levels = Array.from({ length: 500 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}]`);
    expect(problemsOf(`a0: &a0 x\n${levels.join('\n')}\n`)).toEqual(['1:1 the document is nested too deeply']);
  });

  it('takes what is nested as deeply as no pod is', () => {
    const text = `${'['.repeat(90)}x${']'.repeat(90)}`;
    expect(readYaml(`a: ${text}\n`).problems).toEqual([]);
    expect(readYaml(`${'- '.repeat(90)}x\n`).problems).toEqual([]);
  });

  it('counts levels anew after each return to the margin', () => {
    expect(readYaml('a:\n  b:\n  - c: {d: [e]}\n'.repeat(1_000)).problems.at(0)?.message).toBe('is given twice');
  });

  it('refuses millions of words and signs before it reads them, and says where they became too many', () => {
    expect(problemsOf(`a: 1\nb: [${'x,'.repeat(2_000_000)}]\n`)).toEqual([
      expect.stringMatching(/^2:\d+ the file holds more than 100000 words and signs$/),
    ]);
    expect(problemsOf('---\n'.repeat(2_000_000))).toEqual([
      expect.stringMatching(/^\d+:\d+ the file holds more than 100000 words and signs$/),
    ]);
  });

  it('reads a long comment and a long string, which cost next to nothing', () => {
    const { documents, problems } = readYaml(`a: ${'x'.repeat(3_000_000)} # ${'y'.repeat(3_000_000)}\n`);
    expect(problems).toEqual([]);
    expect(documents).toHaveLength(1);
  });

  it('tells at most five mistakes of a document', () => {
    expect(problemsOf('a: *b\n'.repeat(20)).length).toBe(5);
  });

  it.each<[FieldPath, string]>([
    [['spec', 'containers', 0, 'image'], '4:5'],
    [['spec', 'containers', 1], '5:5'],
    [['spec', 'containers', 1, 'image'], '5:5'],
    [['spec', 'containers', 7], '2:3'],
    [['nowhere', 'at', 'all'], '1:1'],
    [[], '1:1'],
    [['more', 'deep', 'x'], '8:18'],
    [['alias', 'x'], '8:18'],
    [['merged', 'x'], '8:18'],
  ])('locates %j, or its nearest parent', (path, position) => {
    const text =
      'spec:\n  containers:\n  - name: a\n    image: b\n  - name: c\n\n' +
      'more:\n  deep: &anchor {x: 1}\nalias: *anchor\nmerged: {<<: *anchor}\n';
    const found = readYaml(text).documents[0]?.locate(path);
    expect(`${found?.line}:${found?.column}`).toBe(position);
  });
});
