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
  it('an edit of a file of credentials counts at once; one that cannot be read is told and left out', async () => {
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

describe('the files of credentials', () => {
  const places = { rootDir: '/root-dir', workingDir: '/work', home: '/home/me' };
  /** Where the kubelet looks, in its order. */
  const order = [
    '/root-dir/config.json',
    '/work/config.json',
    '/home/me/.docker/config.json',
    '/.docker/config.json',
    '/root-dir/.dockercfg',
    '/work/.dockercfg',
    '/home/me/.dockercfg',
    '/.dockercfg',
  ];

  it.each(order.map((path, index) => [path, order.slice(index)] as const))(
    'are looked for in their order: %s counts where it is the first that is there',
    async (path, there) => {
      const readFile = (asked: string): Observable<string | undefined> =>
        of(there.includes(asked) ? JSON.stringify({ auths: { 'r.io': { username: asked } } }) : undefined);
      const { lookUp } = dockerCredentials(places, { readFile }, () => undefined);
      expect(await firstValueFrom(lookUp('r.io/app'))).toEqual([{ username: path }]);
    },
  );

  it('are not joined: only the first counts, though it says nothing of the registry', async () => {
    const texts = new Map([
      ['/root-dir/config.json', '{"auths":{}}'],
      ['/work/config.json', '{"auths":{"r.io":{"username":"other"}}}'],
    ]);
    const { lookUp } = dockerCredentials(places, { readFile: (path) => of(texts.get(path)) }, () => undefined);
    expect(await firstValueFrom(lookUp('r.io/app'))).toEqual([]);
  });
});

describe('askProvider', () => {
  it('a credential provider gets a request with the image on its input, and answers on its output', async () => {
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

  it('a credential provider that fails, or answers nonsense, is told', async () => {
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

  it('a credential provider is asked only for images that its patterns speak of', async () => {
    expect(await asksFor(answer('Image'), 'other.io/a', 'r.io/a')).toEqual(['r.io/a']);
  });

  it('the answer of a credential provider holds for defaultCacheDuration where it does not say how long', async () => {
    const asked: string[] = [];
    const ask = (_provider: CredentialProvider, image: string): Observable<ProviderAnswer> => {
      asked.push(image);
      return of(answer('Image'));
    };
    const { lookUp } = providerCredentials([{ ...PROVIDER, defaultCacheDuration: 0 }], ask, () => undefined);
    await firstValueFrom(lookUp('r.io/a'));
    await firstValueFrom(lookUp('r.io/a'));
    expect(asked).toEqual(['r.io/a', 'r.io/a']);
  });

  it('the answer of a credential provider holds for its image, its registry or all, as long as it says', async () => {
    const images = ['r.io/a', 'r.io/a', 'r.io/b', 'other.io/a'];
    expect(await asksFor(answer('Image'), ...images)).toEqual(['r.io/a', 'r.io/b']);
    expect(await asksFor(answer('Registry'), ...images)).toEqual(['r.io/a']);
    expect(await asksFor(answer('Registry', 0), ...images)).toEqual(['r.io/a', 'r.io/a', 'r.io/b']);
  });

  it('a credential provider that fails is told and left out', async () => {
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
