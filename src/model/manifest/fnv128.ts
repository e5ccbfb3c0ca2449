/**
 * FNV-1a of 128 bits as 32 hex digits. Not `node:crypto`: this room knows no Node, and nobody gains by a collision.
 *
 * The state is six limbs, of 22 bits each and 18 in the last, lowest first: small enough that no product is larger than
 * what V8 keeps in place. The prime is 2^88 + 0x13b, so one multiplication is one small product per limb, and a copy
 * moved up by just four limbs. Written out, since an agent that starts runs this before it is compiled.
 */
export function fnv128(text: string): string {
  let [a, b, c, d, e, f]: Limbs = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) {
    const low = a ^ byte;
    const next = b;
    a = low * SMALL;
    b = next * SMALL + (a >>> BITS);
    c = c * SMALL + (b >>> BITS);
    d = d * SMALL + (c >>> BITS);
    e = e * SMALL + low + (d >>> BITS);
    f = (f * SMALL + next + (e >>> BITS)) & LAST;
    a &= LIMB;
    b &= LIMB;
    c &= LIMB;
    d &= LIMB;
    e &= LIMB;
  }
  return [f, e, d, c, b, a]
    .reduce((whole, limb) => (whole << BigInt(BITS)) | BigInt(limb), 0n)
    .toString(16)
    .padStart(32, '0');
}

const BITS = 22;
const LIMB = 2 ** BITS - 1;
const LAST = 2 ** 18 - 1;
const SMALL = 0x13b;

type Limbs = readonly [number, number, number, number, number, number];
const OFFSET_BASIS: Limbs = [0x15c58d, 0x05d58a, 0x262b82, 0x2ec050, 0x272e07, 0x1b188];
