import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, of, throwError, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askProvider } from '../../../../src/host/credentials/ask-provider.ts';
import { dockerCredentials } from '../../../../src/host/credentials/docker-credentials.ts';
import { providerCredentials } from '../../../../src/host/credentials/provider-credentials.ts';
import { nodeFiles } from '../../../../src/host/files/node-files.ts';
import type { ProviderAnswer } from '../../../../src/model/credentials/provider-answer.ts';
import type { CredentialProvider } from '../../../../src/model/credentials/provider-config.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'credentials-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const PROVIDER: CredentialProvider = {
  name: 'program',
  apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
  matchImages: ['r.io'],
  defaultCacheDuration: 3_600_000,
  args: ['an argument'],
  env: { GREETING: 'hello' },
};

function program(text: string): void {
  writeFileSync(join(folder, 'program'), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'program'), 0o755);
}

describe('dockerCredentials', () => {
  it('takes the first config.json, tells of one that cannot be read, and sees an edit at once', async () => {
    const told: string[] = [];
    const places = { rootDir: folder, workingDir: '/nowhere', home: undefined };
    const { lookUp } = dockerCredentials(places, nodeFiles(), (problem) => told.push(problem));
    expect(await firstValueFrom(lookUp('r.io/app'))).toEqual([]);
    writeFileSync(join(folder, '.dockercfg'), JSON.stringify({ 'r.io': { username: 'old' } }));
    expect(await firstValueFrom(lookUp('r.io/app'))).toEqual([{ username: 'old' }]);
    writeFileSync(join(folder, 'config.json'), '{');
    expect(await firstValueFrom(lookUp('r.io/app'))).toEqual([{ username: 'old' }]);
    expect(told[0]).toContain(`${folder}/config.json: `);
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths: { 'r.io': { username: 'new' } } }));
    expect(await firstValueFrom(lookUp('r.io/app'))).toEqual([{ username: 'new' }]);
  });
});

describe('askProvider', () => {
  it('hands the request to the program, with its arguments and environment, and reads the answer', async () => {
    program(
      `read -r request; test "$1" = 'an argument' && test "$GREETING" = hello || exit 3
case $request in *'"image":"r.io/app:1"'*) ;; *) exit 4;; esac
echo '{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Image","auth":{"r.io":{"username":"me","password":"secret"}}}'`.replace(
        'read -r request',
        'request=$(cat)',
      ),
    );
    const { auths } = await firstValueFrom(askProvider(PROVIDER, folder, 'r.io/app:1'));
    expect([...auths]).toEqual([['r.io', { username: 'me', password: 'secret' }]]);
  });

  it('says how a program failed', async () => {
    program('echo no luck >&2; exit 5');
    await expect(firstValueFrom(askProvider(PROVIDER, folder, 'r.io/app'))).rejects.toThrow(/code 5: no luck/);
    program('echo nonsense');
    await expect(firstValueFrom(askProvider(PROVIDER, folder, 'r.io/app'))).rejects.toThrow();
    rmSync(join(folder, 'program'));
    await expect(firstValueFrom(askProvider(PROVIDER, folder, 'r.io/app'))).rejects.toThrow('ENOENT');
  });
});

describe('providerCredentials', () => {
  const answer = (scope: ProviderAnswer['scope'], lasts?: number): ProviderAnswer => ({
    scope,
    auths: new Map([['r.io', { username: 'me' }]]),
    ...(lasts === undefined ? {} : { lasts }),
  });

  async function asksFor(given: ProviderAnswer, ...images: readonly string[]): Promise<readonly string[]> {
    const asked: string[] = [];
    const ask = (_provider: CredentialProvider, image: string): Observable<ProviderAnswer> => {
      asked.push(image);
      return of(given);
    };
    const { lookUp } = providerCredentials([PROVIDER], ask, () => undefined);
    for (const image of images) await firstValueFrom(lookUp(image));
    return asked;
  }

  it('asks again only for what the last answer does not hold for', async () => {
    const images = ['r.io/a', 'r.io/a', 'r.io/b', 'other.io/a'];
    expect(await asksFor(answer('Image'), ...images)).toEqual(['r.io/a', 'r.io/b']);
    expect(await asksFor(answer('Registry'), ...images)).toEqual(['r.io/a']);
    expect(await asksFor(answer('Registry', 0), ...images)).toEqual(['r.io/a', 'r.io/a', 'r.io/b']);
  });

  it('leaves out a program that fails, and tells', async () => {
    const told: string[] = [];
    const { lookUp } = providerCredentials(
      [PROVIDER],
      () => throwError(() => new Error('no luck')),
      (problem) => told.push(problem),
    );
    expect(await firstValueFrom(lookUp('r.io/a'))).toEqual([]);
    expect(told).toEqual(['credential provider program: no luck']);
  });
});
