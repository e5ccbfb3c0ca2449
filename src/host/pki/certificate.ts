import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import { bits, boolean, context, integer, octets, oid, sequence, setOf, time, utf8 } from './der.ts';

/** A certificate and its private key, both as PEM. */
export interface Credential {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organization?: string;
  /** DNS names and IP addresses that the certificate stands for. */
  readonly names?: readonly string[];
  readonly use: 'authority' | 'server' | 'client';
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Who signs it; absent: it signs itself. */
  readonly issuer?: Credential & { readonly commonName: string };
}

/** Makes a key (ECDSA, P-256) and a certificate for it (X.509 v3, RFC 5280). */
export function makeCertificate(request: CertificateRequest): Credential {
  const { commonName, organization, notBefore, notAfter, issuer } = request;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signer = issuer ?? { key, commonName };
  const signed = sequence(
    context(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    nameOf(signer.commonName),
    sequence(time(notBefore), time(notAfter)),
    nameOf(commonName, organization),
    publicKey.export({ type: 'spki', format: 'der' }),
    context(3, sequence(...extensions(request, publicKey, createPublicKey(signer.key)))),
  );
  const signature = sign('sha256', signed, signer.key);
  return { key, cert: pem(sequence(signed, ECDSA_WITH_SHA256, bits(signature))) };
}

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

function nameOf(commonName: string, organization?: string): Buffer {
  const part = (type: string, value: string): Buffer => setOf(sequence(oid(type), utf8(value)));
  return sequence(...(organization === undefined ? [] : [part('2.5.4.10', organization)]), part('2.5.4.3', commonName));
}

function extensions(
  { use, names = [] }: CertificateRequest,
  publicKey: KeyObject,
  issuerKey: KeyObject,
): readonly Buffer[] {
  const isAuthority = use === 'authority';
  const all = [
    critical('2.5.29.19', isAuthority ? sequence(boolean(true), integer(Buffer.from([0]))) : sequence()),
    critical('2.5.29.15', isAuthority ? bits(Buffer.from([0b0000_0110]), 1) : bits(Buffer.from([0b1000_0000]), 7)),
    plain('2.5.29.14', octets(keyId(publicKey))),
    plain('2.5.29.35', sequence(context(0, keyId(issuerKey), 'implicit'))),
  ];
  if (!isAuthority) all.push(plain('2.5.29.37', sequence(oid(PURPOSES[use]))));
  if (names.length > 0) all.push(plain('2.5.29.17', sequence(...names.map(alternativeName))));
  return all;
}

const PURPOSES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

function plain(id: string, value: Buffer): Buffer {
  return sequence(oid(id), octets(value));
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(oid(id), boolean(true), octets(value));
}

/** Tells two keys of one name apart. */
function keyId(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function alternativeName(name: string): Buffer {
  return isIP(name) === 0
    ? context(2, Buffer.from(name, 'ascii'), 'implicit')
    : context(7, addressBytes(name), 'implicit');
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groups = (text: string): readonly number[] =>
    text.split(':').flatMap((group) => (group === '' ? [] : [Number.parseInt(group, 16)]));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
