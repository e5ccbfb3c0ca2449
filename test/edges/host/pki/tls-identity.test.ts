import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeCertificate } from '../../../../src/host/pki/certificate.ts';
import { tlsIdentity } from '../../../../src/host/pki/tls-identity.ts';
import type { TlsIdentity } from '../../../../src/streams/ports/tls-identity.ts';

const MINUTE = 60_000;

let folder = '';
let running: Subscription | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-identity-'));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  running?.unsubscribe();
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function put(commonName: string): string {
  const now = Date.now();
  const { cert, key } = makeCertificate({ commonName, use: 'server', notBefore: now - MINUTE, notAfter: now + MINUTE });
  writeFileSync(join(folder, 'a.crt'), cert);
  writeFileSync(join(folder, 'a.key'), key);
  return cert;
}

interface Heard {
  readonly identities: TlsIdentity[];
  readonly problems: string[];
  readonly errors: unknown[];
}

function start(): Heard {
  const heard: Heard = { identities: [], problems: [], errors: [] };
  const file = (name: string): string => join(folder, name);
  const own = { folder: file('pki'), nodeName: 'n1', names: ['n1'] };
  const files = { ...own, certFile: file('a.crt'), keyFile: file('a.key'), clientCaFile: '' };
  running = tlsIdentity(files, (problem) => heard.problems.push(problem)).subscribe({
    next: (identity) => heard.identities.push(identity),
    error: (error: unknown) => heard.errors.push(error),
  });
  return heard;
}

async function pass(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await vi.advanceTimersByTimeAsync(MINUTE);
    await new Promise((done) => setImmediate(done));
  }
}

describe('tlsIdentity', () => {
  it('takes the files that it is given, and follows them', async () => {
    const first = put('one');
    const heard = start();
    await pass(() => heard.identities.length > 0);
    expect(heard.identities[0]?.cert).toBe(first);
    expect(heard.identities[0]?.clientCa).toContain('BEGIN CERTIFICATE');
    const second = put('two');
    await pass(() => heard.identities.length > 1);
    expect(heard.identities.map(({ cert }) => cert)).toEqual([first, second]);
  });

  it('keeps the last good ones when the files break, and says so', async () => {
    put('one');
    const heard = start();
    await pass(() => heard.identities.length > 0);
    writeFileSync(join(folder, 'a.crt'), 'rubbish');
    await pass(() => heard.problems.length > 0);
    expect(heard.problems[0]).toMatch(/^the certificates of the server cannot be renewed: /);
    expect(heard.identities).toHaveLength(1);
    put('two');
    await pass(() => heard.identities.length > 1);
    expect(heard.errors).toEqual([]);
  });

  it('errors where there is nothing to begin with', async () => {
    const heard = start();
    await pass(() => heard.errors.length > 0);
    // Both of its files are looked for at once.
    expect(String(heard.errors[0])).toMatch(/\/a\.(?:crt|key)\b/);
  });
});
