import type { ScalarTag, Tags } from 'yaml';

/**
 * How Kubernetes reads plain scalars: YAML 1.1 words and octals, but no sexagesimal numbers, and time stamps stay
 * strings. Whole numbers beyond 2^53 become a `bigint`, so that a quantity keeps all its digits.
 */
export const KUBERNETES_SCALARS: Tags = [
  plain('null', /^(?:~|null|Null|NULL|)$/, () => null),
  plain('bool', /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  plain('bool', /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  plain('int', /^[-+]?(?:0[bB][01_]+|0[oO]?[0-7_]+|0[xX][\da-fA-F_]+|[1-9][\d_]*|0)$/, wholeNumber),
  plain('float', /^[-+]?(?:\.\d+|\d[\d_]*(?:\.[\d_]*)?)(?:[eE][-+]?\d+)?$/, (text) => Number(text.replaceAll('_', ''))),
  plain('float', /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/, (text, fail) => {
    fail(`${text} is no number that Kubernetes knows`);
    return null;
  }),
  tagged('timestamp', (text) => text),
  tagged('binary', (text) =>
    new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll(/\s/g, '')), (c) => c.charCodeAt(0))),
  ),
];

type Resolve = (text: string, fail: (message: string) => void) => unknown;

function plain(name: string, test: RegExp, resolve: Resolve): ScalarTag {
  return { tag: `tag:yaml.org,2002:${name}`, default: true, test, resolve };
}

function tagged(name: string, resolve: Resolve): ScalarTag {
  return { tag: `tag:yaml.org,2002:${name}`, resolve };
}

function wholeNumber(text: string): number | bigint {
  const digits = text.replaceAll('_', '').replace(/^[-+]/, '');
  const octal = /^0[0-7]+$/.test(digits);
  const amount = BigInt(octal ? `0o${digits.slice(1)}` : digits.toLowerCase());
  const value = text.startsWith('-') ? -amount : amount;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
