/** How a quantity was written, which is also how it is printed: `100M`, `100Mi`, `1e8`. */
type QuantityFormat = 'decimalSI' | 'binarySI' | 'decimalExponent';

/** An amount of a resource, exact to one billionth (Kubernetes, apimachinery resource.Quantity). */
export interface Quantity {
  /** Billionths of one. */
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

/** Reads `500m`, `1.5Gi`, `1e3`, ...; `undefined` for what is no quantity. Finer than one billionth is rounded up. */
export function parseQuantity(text: string): Quantity | undefined {
  const match = QUANTITY.exec(text);
  if (!match) return undefined;
  const { sign, whole = '', fraction = '', suffix = '', exponent } = match.groups ?? {};
  if (whole === '' && fraction === '') return undefined;

  const unit = exponent === undefined ? UNITS.get(suffix) : decimalUnit(exponent);
  if (!unit) return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const nano = atMost(
    LARGEST,
    divideUp(digits * unit.factor * NANO * 10n ** unit.tens, 10n ** (unit.tenths + BigInt(fraction.length))),
  );
  return { nano: sign === '-' ? -nano : nano, format: settleFormat(unit.format, nano) };
}

/** Canonical text, as the API server prints it: no fraction, the largest suffix that loses nothing. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return '0';
  const sign = nano < 0n ? '-' : '';
  const amount = nano < 0n ? -nano : nano;
  if (format === 'binarySI' && amount % NANO === 0n && amount >= 1024n * NANO) return sign + printBinary(amount / NANO);
  return sign + printDecimal(amount, format === 'decimalExponent' ? exponentSuffix : siSuffix);
}

/** Thousandths of one, rounded up (away from zero). Exact up to 2^53. */
export function milliValue({ nano }: Quantity): number {
  return Number(roundUp(nano, MILLI) / MILLI);
}

/** Whole ones, rounded up (away from zero). Exact up to 2^53. */
export function wholeValue({ nano }: Quantity): number {
  return Number(roundUp(nano, NANO) / NANO);
}

/** The quantity rounded up to whole thousandths, as the API does with every resource. */
export function roundUpToMilli({ nano, format }: Quantity): Quantity {
  return { nano: roundUp(nano, MILLI), format };
}

/** Negative, zero or positive, as `Array.sort` wants it. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

interface Unit {
  readonly format: QuantityFormat;
  readonly factor: bigint;
  readonly tens: bigint;
  readonly tenths: bigint;
}

const NANO = 1_000_000_000n;
const MILLI = 1_000_000n;
/** Kubernetes caps what would not fit in 64 bits. */
const LARGEST = (2n ** 63n - 1n) * NANO;
/** Beyond this many zeros every amount is the largest or the smallest one; keeps `1e999999999` cheap. */
const MOST_TENS = 64;

const QUANTITY =
  /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:(?<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?<exponent>[+-]?\d{1,18}))?$/;

const SI_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const UNITS: ReadonlyMap<string, Unit> = new Map<string, Unit>([
  ...SI_SUFFIXES.map((suffix, index): [string, Unit] => [suffix, { ...decimal((index - 3) * 3), format: 'decimalSI' }]),
  ...BINARY_SUFFIXES.slice(1).map((suffix, index): [string, Unit] => [
    suffix,
    { format: 'binarySI', factor: 1024n ** BigInt(index + 1), tens: 0n, tenths: 0n },
  ]),
]);

function decimalUnit(exponent: string): Unit {
  return decimal(Math.max(-MOST_TENS, Math.min(MOST_TENS, Number(exponent))));
}

function decimal(exponent: number): Unit {
  return {
    format: 'decimalExponent',
    factor: 1n,
    tens: BigInt(Math.max(0, exponent)),
    tenths: BigInt(Math.max(0, -exponent)),
  };
}

/** A binary suffix on less than one reads badly, so Kubernetes prints such amounts as decimal ones. */
function settleFormat(format: QuantityFormat, nano: bigint): QuantityFormat {
  return format === 'binarySI' && nano > 0n && nano < NANO ? 'decimalSI' : format;
}

function printDecimal(nano: bigint, suffixOf: (exponent: number) => string): string {
  let amount = nano;
  let exponent = -9;
  while (amount % 1000n === 0n && exponent < 18) {
    amount /= 1000n;
    exponent += 3;
  }
  return `${amount}${suffixOf(exponent)}`;
}

function printBinary(whole: bigint): string {
  let amount = whole;
  let power = 0;
  while (amount % 1024n === 0n && power < BINARY_SUFFIXES.length - 1) {
    amount /= 1024n;
    power += 1;
  }
  return `${amount}${BINARY_SUFFIXES[power] ?? ''}`;
}

function siSuffix(exponent: number): string {
  return SI_SUFFIXES[exponent / 3 + 3] ?? '';
}

function exponentSuffix(exponent: number): string {
  return exponent === 0 ? '' : `e${exponent}`;
}

function roundUp(nano: bigint, step: bigint): bigint {
  return nano < 0n ? -divideUp(-nano, step) * step : divideUp(nano, step) * step;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

function atMost(limit: bigint, value: bigint): bigint {
  return value > limit ? limit : value;
}
