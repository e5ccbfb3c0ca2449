import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareQuantities,
  formatQuantity,
  milliValue,
  parseQuantity,
  roundUpToMilli,
  wholeValue,
  type Quantity,
} from '../../../src/model/quantity.ts';

function read(text: string): Quantity {
  const quantity = parseQuantity(text);
  if (!quantity) throw new Error(`${text} is no quantity`);
  return quantity;
}

describe('parseQuantity', () => {
  it.each([
    ['0', '0'],
    ['1', '1'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['5.', '5'],
    ['+2', '2'],
    ['-1', '-1'],
    ['-0.25', '-250m'],
    ['100m', '100m'],
    ['1500m', '1500m'],
    ['2000m', '2'],
    ['1000', '1k'],
    ['1500', '1500'],
    ['1.5k', '1500'],
    ['100000001', '100000001'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['1Ki', '1Ki'],
    ['0.5Ki', '512'],
    ['0.5Mi', '512Ki'],
    ['1023Ki', '1023Ki'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['12e6', '12e6'],
    ['1e-3', '1e-3'],
    ['1E', '1E'],
    ['1Ei', '1Ei'],
    ['1n', '1n'],
    ['0.1n', '1n'],
    ['1000u', '1m'],
    ['9E', '9E'],
    ['100E', '9223372036854775807'],
    ['1e30', '9223372036854775807'],
    ['1e999999999', '9223372036854775807'],
    ['1e-999999999', '1e-9'],
  ])('reads %s and prints it as %s', (text, canonical) => {
    expect(formatQuantity(read(text))).toBe(canonical);
  });

  it.each([
    '',
    ' ',
    '.',
    '-',
    'm',
    'Ki',
    '1 ',
    ' 1',
    '1ki',
    '1KI',
    '1kb',
    '1Kib',
    '0x10',
    '1e',
    '1e1.5',
    '1.2.3',
    '--1',
    'one',
    '1Zi',
    '१',
  ])('refuses %j', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  it('reads back what it prints, exactly', () => {
    fc.assert(
      fc.property(anyQuantity(), (text) => {
        const quantity = read(text);
        const printed = formatQuantity(quantity);
        expect(read(printed).nano).toBe(quantity.nano);
        expect(formatQuantity(read(printed))).toBe(printed);
      }),
    );
  });
});

describe('milliValue and wholeValue', () => {
  it.each([
    ['1', 1000, 1],
    ['1m', 1, 1],
    ['1u', 1, 1],
    ['1500m', 1500, 2],
    ['-1500m', -1500, -2],
    ['64Mi', 67_108_864_000, 67_108_864],
    ['0', 0, 0],
  ])('round %s up to %d thousandths and %d whole ones', (text, milli, whole) => {
    expect(milliValue(read(text))).toBe(milli);
    expect(wholeValue(read(text))).toBe(whole);
  });

  it('never round towards zero', () => {
    fc.assert(
      fc.property(anyQuantity(), (text) => {
        const { nano, format } = read(text);
        const rounded = roundUpToMilli({ nano, format }).nano;
        expect(rounded % 1_000_000n).toBe(0n);
        const [more, less] = nano < 0n ? [-rounded, -nano] : [rounded, nano];
        expect(more >= less && more - less < 1_000_000n).toBe(true);
      }),
    );
  });
});

describe('compareQuantities', () => {
  it('orders amounts, however they are written', () => {
    const sorted = ['1Gi', '1G', '500m', '1e9', '-1', '0.5'].map(read).toSorted(compareQuantities);
    expect(sorted.map(formatQuantity)).toEqual(['-1', '500m', '500m', '1G', '1e9', '1Gi']);
  });
});

function anyQuantity(): fc.Arbitrary<string> {
  const suffix = fc.constantFrom(
    '',
    'n',
    'u',
    'm',
    'k',
    'M',
    'G',
    'T',
    'P',
    'E',
    'Ki',
    'Mi',
    'Gi',
    'Ti',
    'Pi',
    'Ei',
    'e3',
    'e-2',
    'E5',
  );
  return fc
    .tuple(fc.constantFrom('', '-', '+'), fc.nat(9_999_999), fc.option(fc.nat(999_999)), suffix)
    .map(([sign, whole, fraction, unit]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${unit}`);
}
