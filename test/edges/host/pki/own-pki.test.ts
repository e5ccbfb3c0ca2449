import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownPki } from '../../../../src/host/pki/own-pki.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const NAMES = ['node-1', 'localhost', '127.0.0.1', '::1', '2001:db8::5'];

let folder = '';

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'rxlet-pki-')), 'pki');
});

afterEach(() => {
  rmSync(join(folder, '..'), { recursive: true });
});

function make(now = NOW, names = NAMES): Promise<unknown> {
  return ownPki({ folder, nodeName: 'node-1', names }, now);
}

function certificate(name: string): X509Certificate {
  return new X509Certificate(readFileSync(join(folder, `${name}.crt`)));
}

function serials(): readonly string[] {
  return ['ca', 'kubelet', 'client'].map((name) => certificate(name).serialNumber);
}

describe('ownPki', () => {
  it('makes an authority, and certificates for a server and a client that openssl takes', async () => {
    await make();
    const verify = (name: string, purpose: string): string =>
      execFileSync(
        'openssl',
        [
          'verify',
          '-x509_strict',
          '-attime',
          String(NOW / 1_000),
          '-purpose',
          purpose,
          '-CAfile',
          `${folder}/ca.crt`,
          `${folder}/${name}.crt`,
        ],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
      );
    expect(verify('kubelet', 'sslserver')).toContain('OK');
    expect(verify('client', 'sslclient')).toContain('OK');
    expect(() => verify('client', 'sslserver')).toThrow();
    expect(() => verify('kubelet', 'sslclient')).toThrow();
  });

  it('names everything under which the node is reached', async () => {
    await make();
    const server = certificate('kubelet');
    for (const name of ['node-1', 'localhost']) expect(server.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1', '2001:db8::5']) expect(server.checkIP(address)).toBeDefined();
    expect(server.checkHost('node-2')).toBeUndefined();
    expect(certificate('client').subject).toBe('O=system:masters\nCN=rxlet-admin');
  });

  it('keeps the keys to its owner', async () => {
    await make();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ['ca', 'kubelet', 'client'])
      expect(statSync(join(folder, `${name}.key`)).mode & 0o777).toBe(0o600);
  });

  it('keeps what it has made', async () => {
    await make();
    const before = serials();
    await make(NOW + 100 * DAY);
    expect(serials()).toEqual(before);
  });

  it('renews certificates before they expire, and leaves the authority', async () => {
    await make();
    const before = serials();
    await make(NOW + 300 * DAY);
    const after = serials();
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
    expect(Date.parse(certificate('kubelet').validTo)).toBeGreaterThan(NOW + 600 * DAY);
  });

  it('begins anew before the authority expires', async () => {
    await make();
    const before = serials();
    await make(NOW + 9 * 365 * DAY);
    expect(serials().filter((serial) => before.includes(serial))).toEqual([]);
  });

  it('makes the certificate of the server anew for a new address', async () => {
    await make();
    const before = serials();
    await make(NOW, [...NAMES, '192.0.2.7']);
    expect(certificate('kubelet').checkIP('192.0.2.7')).toBeDefined();
    expect(serials()[2]).toBe(before[2]);
  });

  it('replaces what is broken or does not belong together', async () => {
    await make();
    writeFileSync(join(folder, 'client.crt'), 'rubbish');
    writeFileSync(join(folder, 'kubelet.key'), readFileSync(join(folder, 'client.key')), { mode: 0o644 });
    await make();
    expect(certificate('client').subject).toContain('rxlet-admin');
    expect(certificate('kubelet').verify(certificate('ca').publicKey)).toBe(true);
    expect(statSync(join(folder, 'kubelet.key')).mode & 0o777).toBe(0o600);
  });
});
