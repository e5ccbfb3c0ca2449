import { RuntimeError, type RuntimeErrorKind } from '../../model/errors.ts';
import { isRecord } from '../../model/schema/check-shape.ts';
import { SubPathError } from '../../streams/ports/mounts.ts';

export interface ValueReader {
  /** Takes down what a number means from now on. */
  readonly define: (number: number, written: unknown) => void;
  /** The value that was written so; throws where it means something that was never put down. */
  readonly read: (written: unknown) => unknown;
}

/** Reads what `valueWriter` has written. What is meant by the same number is the same object. */
export function valueReader(): ValueReader {
  const defined = new Map<number, unknown>();

  function read(written: unknown): unknown {
    if (Array.isArray(written)) return written.map(read);
    if (!isRecord(written)) return written;
    const [first] = Object.entries(written);
    if (first?.[0].startsWith('$') && !first[0].startsWith('$$')) return special(first[0], first[1], written);
    return Object.fromEntries(Object.entries(written).map(([key, value]) => [nameOf(key), read(value)]));
  }

  function special(key: string, value: unknown, written: unknown): unknown {
    switch (key) {
      case '$ref': {
        const number = value as number;
        if (!defined.has(number)) throw new Error(`it means value ${number}, which was not put down before`);
        return defined.get(number);
      }
      case '$map':
        return new Map(read(value) as [unknown, unknown][]);
      case '$set':
        return new Set(read(value) as unknown[]);
      case '$text':
        return new Uint8Array(Buffer.from(value as string, 'utf8'));
      case '$number':
        return Number(value);
      case '$bigint':
        return BigInt(value as string);
      case '$error':
        return errorOf(read(value) as Readonly<Record<string, unknown>>);
      default:
        return written;
    }
  }

  return {
    define: (number, written) => defined.set(number, read(written)),
    read,
  };
}

function nameOf(key: string): string {
  return key.startsWith('$$') ? key.slice(1) : key;
}

/** Of the kinds that the agent tells apart; any other has its message and its code. */
function errorOf({ name, message, ...rest }: Readonly<Record<string, unknown>>): Error {
  const text = String(message);
  if (name === 'RuntimeError')
    return new RuntimeError(rest['kind'] as RuntimeErrorKind, String(rest['call']), text, statusOf(rest['status']));
  if (name === 'SubPathError') return new SubPathError(rest['step'] as SubPathError['step'], text);
  return Object.assign(new Error(text), { ...rest, name: String(name) });
}

function statusOf(status: unknown): string | undefined {
  return typeof status === 'string' ? status : undefined;
}
