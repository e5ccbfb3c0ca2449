/**
 * FNV-1a of 128 bits as 32 hex digits. Not `node:crypto`: this room knows no Node, and nobody gains by a collision.
 *
 * The state is eight limbs of 16 bits, lowest first. The prime is 2^88 + 0x13b, so one multiplication is one small
 * product per limb plus a copy moved up by five and a half limbs.
 */
export function fnv128(text: string): string {
  const limbs = new Uint32Array(OFFSET_BASIS);
  const before = new Uint32Array(8);
  for (const byte of new TextEncoder().encode(text)) {
    limbs[0] = at(limbs, 0) ^ byte;
    before.set(limbs);
    let carry = 0;
    for (let i = 0; i < 8; i += 1) {
      const sum = at(before, i) * 0x13b + shifted(before, i) + carry;
      limbs[i] = sum & 0xffff;
      carry = sum >>> 16;
    }
  }
  return Array.from(limbs, (limb) => limb.toString(16).padStart(4, '0'))
    .reverse()
    .join('');
}

const OFFSET_BASIS = [0xc58d, 0x6295, 0x2175, 0x62b8, 0x0142, 0x07bb, 0x272e, 0x6c62];

/** Limb `i` of the state moved up by 88 bits. */
function shifted(limbs: Uint32Array, i: number): number {
  const high = i >= 5 ? (at(limbs, i - 5) & 0xff) << 8 : 0;
  const low = i >= 6 ? at(limbs, i - 6) >>> 8 : 0;
  return high | low;
}

function at(limbs: Uint32Array, index: number): number {
  return limbs[index] ?? 0;
}
