import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../files/system-error.ts';
import { makeCertificate, type CertificateRequest, type Credential } from './certificate.ts';

/** What rxlet made for itself, below `<root>/pki`. */
export interface OwnPki {
  readonly authority: string;
  readonly server: Credential;
}

export interface OwnPkiConfig {
  readonly folder: string;
  readonly nodeName: string;
  /** DNS names and addresses under which the node is reached. */
  readonly names: readonly string[];
}

const DAY = 86_400_000;
const AUTHORITY_LIFE = 10 * 365 * DAY;
const LIFE = 365 * DAY;
/** A clock that is a little behind may take them, too. */
const SLACK = 3_600_000;

/**
 * Reads the authority (`ca.crt`), the certificate of the server (`kubelet.crt`) and one for a client (`client.crt`),
 * and makes what is missing, broken, signed by somebody else, of other names or past four fifths of its life. Keys are
 * for the owner only. `now` is in milliseconds since 1970.
 */
export async function ownPki({ folder, nodeName, names }: OwnPkiConfig, now: number): Promise<OwnPki> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const wish = (life: number): Pick<CertificateRequest, 'notBefore' | 'notAfter'> => ({
    notBefore: now - SLACK,
    notAfter: now + life,
  });

  const authorityName = `rxlet-ca@${nodeName}`;
  const authority = await settled(folder, 'ca', now, (old) => old.subject === `CN=${authorityName}`, {
    commonName: authorityName,
    use: 'authority',
    ...wish(AUTHORITY_LIFE),
  });
  const issuer = { ...authority, commonName: authorityName };
  const signedByIt = new X509Certificate(authority.cert).publicKey;

  const server = await settled(
    folder,
    'kubelet',
    now,
    (old) => old.verify(signedByIt) && names.every((name) => stands(old, name)),
    { commonName: nodeName, names, use: 'server', issuer, ...wish(LIFE) },
  );
  await settled(folder, 'client', now, (old) => old.verify(signedByIt), {
    commonName: 'rxlet-admin',
    organization: 'system:masters',
    use: 'client',
    issuer,
    ...wish(LIFE),
  });
  return { authority: authority.cert, server };
}

async function settled(
  folder: string,
  name: string,
  now: number,
  holds: (certificate: X509Certificate) => boolean,
  request: CertificateRequest,
): Promise<Credential> {
  const kept = await read(folder, name);
  if (kept && isGood(kept, now, holds)) return kept;
  const made = makeCertificate(request);
  // The key goes first: one without its certificate is made anew at the next start.
  await replace(join(folder, `${name}.key`), made.key, 0o600);
  await replace(join(folder, `${name}.crt`), made.cert, 0o644);
  return made;
}

function isGood({ cert, key }: Credential, now: number, holds: (certificate: X509Certificate) => boolean): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const from = Date.parse(certificate.validFrom);
    const until = Date.parse(certificate.validTo);
    const isFresh = now >= from && now < until - (until - from) / 5;
    return isFresh && certificate.checkPrivateKey(createPrivateKey(key)) && holds(certificate);
  } catch {
    return false;
  }
}

function stands(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name) !== undefined || certificate.checkIP(name) !== undefined;
}

async function read(folder: string, name: string): Promise<Credential | undefined> {
  try {
    const [cert, key] = await Promise.all(
      ['crt', 'key'].map((end) => readFile(join(folder, `${name}.${end}`), 'utf8')),
    );
    return cert === undefined || key === undefined ? undefined : { cert, key };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function replace(path: string, text: string, mode: number): Promise<void> {
  await rm(`${path}.new`, { force: true }); // what is there may be open to others
  await writeFile(`${path}.new`, text, { mode, flag: 'wx' });
  await rename(`${path}.new`, path);
}
