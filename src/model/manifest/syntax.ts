/** The syntax of names in Kubernetes. Every function says what is wrong with a text, or nothing. */
export type Syntax = (text: string) => string | undefined;

export const dnsLabel: Syntax = (text) =>
  text.length <= 63 && DNS_LABEL.test(text)
    ? undefined
    : 'must be at most 63 lower case letters, digits and "-", with a letter or digit at both ends';

export const dnsSubdomain: Syntax = (text) =>
  text.length <= 253 && DNS_SUBDOMAIN.test(text)
    ? undefined
    : 'must be at most 253 lower case letters, digits, "-" and ".", with a letter or digit at both ends of every part';

/** As of a label's key: a name of 63 characters, after `domain/` where it has one. */
export const qualifiedName: Syntax = (text) => {
  const parts = text.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) return 'must have at most one "/"';
  if (parts.length === 2 && dnsSubdomain(parts[0] ?? '')) return 'must have a domain name before the "/"';
  return name.length <= 63 && QUALIFIED.test(name)
    ? undefined
    : 'must have a name of 1 to 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends';
};

export const labelValue: Syntax = (text) =>
  text === '' || (text.length <= 63 && QUALIFIED.test(text))
    ? undefined
    : 'must be empty or at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends';

export const portName: Syntax = (text) =>
  text.length <= 15 && /[a-z]/.test(text) && DNS_LABEL.test(text) && !text.includes('--')
    ? undefined
    : 'must be at most 15 lower case letters, digits and single "-", with at least one letter and no "-" at the ends';

export const envName: Syntax = (text) =>
  /^[\x20-\x3c\x3e-\x7e]+$/.test(text) ? undefined : 'must be printable ASCII characters without "="';

/** Of a key in a ConfigMap or Secret: it can become the name of a file. */
export const dataKey: Syntax = (text) =>
  /^[-.\w]{1,253}$/.test(text) && !/^\.(?:\.|$)/.test(text)
    ? undefined
    : 'must be at most 253 letters, digits, "-", "_" and ".", and not begin with ".."';

export const ipAddress: Syntax = (text) =>
  isIPv4(text) || isIPv6(text) ? undefined : 'must be an IP address, for example 10.9.8.7 or 2001:db8::1';

export const relativePath: Syntax = (text) => {
  if (text.startsWith('/')) return 'must be a relative path';
  return hasBackstep(text) ? 'must not contain ".."' : undefined;
};

export function hasBackstep(path: string): boolean {
  return path.split('/').includes('..');
}

const DNS_LABEL = /^[a-z\d](?:[-a-z\d]*[a-z\d])?$/;
const DNS_SUBDOMAIN = /^[a-z\d](?:[-a-z\d]*[a-z\d])?(?:\.[a-z\d](?:[-a-z\d]*[a-z\d])?)*$/;
const QUALIFIED = /^[A-Za-z\d](?:[-\w.]*[A-Za-z\d])?$/;

function isIPv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIPv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1);
  const dotted = last?.includes('.') === true;
  if (dotted && !isIPv4(last)) return false;
  const plain = dotted ? groups.slice(0, -1) : groups;
  const count = plain.length + (dotted ? 2 : 0);
  return plain.every((group) => /^[\da-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? count <= 7 : count === 8);
}
