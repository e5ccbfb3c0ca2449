import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEnvFile } from '../../../../src/model/env/env-file.ts';

describe('parseEnvFile', () => {
  it.each<[string, string, Readonly<Record<string, string>>]>([
    ['reads a variable', "A='1'\n", { A: '1' }],
    ['reads a last line without its end', "A='1'\nB='two words'", { A: '1', B: 'two words' }],
    ['passes over blank lines, comments and space before names', "\n  \n# A='0'\n  A='1'\n", { A: '1' }],
    ['passes over space around = and at the end, and a comment behind', "A = '1'   # one\n", { A: '1' }],
    ['takes everything between the quotes as it stands', 'A=\'$B \\n # "x"\'\n', { A: '$B \\n # "x"' }],
    ['takes line breaks between the quotes', "A='1\n2'\nB='3'\n", { A: '1\n2', B: '3' }],
    ['lets the first one of a name win', "A='1'\nA='2'\n", { A: '1' }],
    ['reads lines that end as on Windows', "A='1'\r\nB='2'\r\n", { A: '1', B: '2' }],
    ['finds nothing in an empty file', '', {}],
  ])('%s', (_rule, text, variables) => {
    expect(Object.fromEntries(parseEnvFile(text) ?? [])).toEqual(variables);
  });

  it.each([
    ['a value without quotes', 'A=1\n'],
    ['a value in double quotes', 'A="1"\n'],
    ['a value that is never closed', "A='1\n"],
    ['text behind the value', "A='1' B\n"],
    ['a name with a space', "A B='1'\n"],
    ['a line that sets nothing', 'A\n'],
  ])('takes no part of a file with %s', (_what, text) => {
    expect(parseEnvFile(`GOOD='1'\n${text}`)).toBeUndefined();
  });

  it('reads back what was written', () => {
    const name = fc.stringMatching(/^[A-Za-z_]\w{0,9}$/);
    const value = fc.string().filter((text) => !text.includes("'"));
    fc.assert(
      fc.property(fc.dictionary(name, value), (variables) => {
        const text = Object.entries(variables).map(([key, content]) => `${key}='${content}'\n`);
        expect(Object.fromEntries(parseEnvFile(text.join('')) ?? [])).toEqual({ ...variables });
      }),
      { seed: 5, numRuns: 500 },
    );
  });
});
