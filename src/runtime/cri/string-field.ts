/**
 * Reads one string of an encoded protobuf message, for messages of which only that is known. Empty where the field is
 * absent, and where the bytes are no such message.
 */
export function stringField(message: Uint8Array, field: number): string {
  let at = 0;

  function varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  while (at < message.length) {
    const tag = varint();
    switch (tag % 8) {
      case VARINT:
        varint();
        break;
      case FIXED_64:
        at += 8;
        break;
      case LENGTH_DELIMITED: {
        const length = varint();
        if (Math.floor(tag / 8) === field) return new TextDecoder().decode(message.subarray(at, at + length));
        at += length;
        break;
      }
      case FIXED_32:
        at += 4;
        break;
      default:
        return '';
    }
  }
  return '';
}

/** Wire types of protobuf. */
const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;
