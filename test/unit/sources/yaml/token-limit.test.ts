import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens, isPlain, MOST_LEVELS, MOST_TOKENS } from '../../../../src/sources/yaml/token-limit.ts';

const piece = fc.constantFrom('- ', '? ', ': ', 'a: ', '[', '{', ']', '}', '\n', '  ', ' ', '"x"', '# c', '&a ', '!t ');

describe('a text that is seen to be plain', () => {
  it('passes none of the limits that its tokens are counted for', () => {
    const text = fc.array(piece, { maxLength: 400 }).map((pieces) => pieces.join(''));
    fc.assert(fc.property(text, (some) => !isPlain(some) || countTokens(some, MOST_TOKENS).beyond === undefined));
  });

  it.each([
    ['an ordinary manifest', 'spec:\n  containers:\n  - {name: a, args: [b, c]}\n', true],
    ['as many brackets as levels are allowed', '[\n'.repeat(MOST_LEVELS), false],
    ['a list in a list in a list, on one line', '- '.repeat(MOST_LEVELS), false],
    ['as many letters as tokens are allowed', 'a\n'.repeat(MOST_TOKENS / 2), false],
  ])('%s', (_, text, plain) => {
    expect(isPlain(text)).toBe(plain);
  });
});
