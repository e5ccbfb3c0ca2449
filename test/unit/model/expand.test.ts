import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand } from '../../../src/model/expand.ts';

const VARIABLES = new Map([
  ['NAME', 'value'],
  ['EMPTY', ''],
  ['NESTED', '$(NAME)'],
  ['a.b-c', 'odd'],
]);

describe('expand', () => {
  it.each([
    ['replaces a variable', '$(NAME)', 'value'],
    ['replaces every variable', '<$(NAME)|$(EMPTY)|$(NAME)>', '<value||value>'],
    ['takes odd names', '$(a.b-c)', 'odd'],
    ['leaves an unknown name', '$(NOBODY)', '$(NOBODY)'],
    ['leaves an empty name', '$()', '$()'],
    ['takes two dollars for one', '$$', '$'],
    ['takes two dollars before a name as an escape', '$$(NAME)', '$(NAME)'],
    ['takes three dollars as an escape and a variable', '$$$(NAME)', '$value'],
    ['leaves what is never closed', 'a $(NAME', 'a $(NAME'],
    ['leaves a dollar at the end', 'cost: 5$', 'cost: 5$'],
    ['leaves a dollar before anything else', '$NAME ${NAME}', '$NAME ${NAME}'],
    ['expands what stands inside a name that never closes', '$(A $(NAME)', '$(A $(NAME)'],
    ['does not expand what a value brings', '$(NESTED)', '$(NAME)'],
  ])('%s', (_rule, text, expanded) => {
    expect(expand(text, VARIABLES)).toBe(expanded);
  });

  it('leaves any text without a dollar as it is', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes('$')),
        (text) => {
          expect(expand(text, VARIABLES)).toBe(text);
        },
      ),
      { seed: 5, numRuns: 500 },
    );
  });

  it('gives back any text whose dollars were doubled', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '(', ')', 'N', 'A') }), (text) => {
        expect(expand(text.replaceAll('$', '$$$$'), VARIABLES)).toBe(text);
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
