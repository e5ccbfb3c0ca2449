import { describe, expect, it } from 'vitest';
import { titlesOf } from './test-titles.ts';

function told(text: string): readonly string[] {
  return [...titlesOf(text)];
}

describe('titlesOf', () => {
  it.each([
    [
      'tells what tests and groups are called',
      "describe('a', () => { it(`b`, () => {}); test('c\\'s', f); });",
      ['a', 'b', "c's"],
    ],
    ['hears nothing in comments', "// it('a')\n/* it('b') */", []],
    ['hears nothing in other calls', "expect('a').toBe('b'); submit('c');", []],
    [
      'tells the first word of each row where it is the title',
      "it.each([['a', 'x'], ['b', 'y']])('%s', f);",
      ['%s', 'a', 'b'],
    ],
    ['tells rows that are words', "it.each(['a', 'b'])('is %s', f);", ['is %s', 'a', 'b']],
    ['tells the property that is the title', "it.each([{ rule: 'a', other: 'x' }])('$rule', f);", ['$rule', 'a']],
    [
      'finds a table under its name, and what is joined to it',
      "const T = ['a'] as const; it.each([...T, 'b'])('%s', f);",
      ['%s', 'a', 'b'],
    ],
    ['tells rows that are made', "it.each(NAMES.map((name) => [`a ${name}`, name]))('%s', f);", ['%s', 'a ${name}']],
    ['tells no row whose title says something else', "it.each([['a', 1]])('b', f);", ['b']],
  ])('%s', (_rule, text, titles) => {
    expect(told(text)).toEqual(titles);
  });
});
