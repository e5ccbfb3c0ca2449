/** The few things of DER (X.690) that a certificate is made of. Each returns one encoded value. */

export function sequence(...items: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(items));
}

export function setOf(item: Buffer): Buffer {
  return tagged(0x31, item);
}

/** A whole number that is not negative, from its bytes, the highest first. */
export function integer(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.from([0]) : bytes.subarray(start);
  return tagged(0x02, (digits[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

export function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

export function octets(content: Buffer): Buffer {
  return tagged(0x04, content);
}

/** Bits of which the last `unused` count for nothing. */
export function bits(content: Buffer, unused = 0): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text, 'utf8'));
}

/** Milliseconds since 1970, to the second; as RFC 5280 wants it, with two digits for years before 2050. */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/\.\d+/, '').replaceAll(/[-:T]/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), 'ascii'))
    : tagged(0x18, Buffer.from(digits, 'ascii'));
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([40 * first + second, ...rest.flatMap(base128)]));
}

/** A value under a tag of the context, around it or, `implicit`, in the place of its own. */
export function context(tag: number, content: Buffer, form: 'explicit' | 'implicit' = 'explicit'): Buffer {
  return tagged((form === 'explicit' ? 0xa0 : 0x80) + tag, content);
}

function base128(value: number): readonly number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift(0x80 | (rest & 0x7f));
  return digits;
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
