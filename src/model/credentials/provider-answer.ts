import { parseDuration } from '../config/parse-duration.ts';
import { isRecord } from '../schema/check-shape.ts';
import type { DockerAuths } from './docker-config.ts';

/** What a credential provider said. */
export interface ProviderAnswer {
  readonly auths: DockerAuths;
  /** For which other images it holds too. */
  readonly scope: 'Image' | 'Registry' | 'Global';
  /** Milliseconds; absent where it says nothing. */
  readonly lasts?: number;
}

/** Reads a `CredentialProviderResponse`. Throws where it is none. */
export function readProviderAnswer(text: string, apiVersion: string): ProviderAnswer {
  const parsed = JSON.parse(text) as unknown;
  if (!isRecord(parsed) || parsed['kind'] !== 'CredentialProviderResponse' || parsed['apiVersion'] !== apiVersion)
    throw new Error(`it did not answer with a CredentialProviderResponse of ${apiVersion}`);
  const { cacheKeyType: scope, cacheDuration, auth } = parsed;
  if (scope !== 'Image' && scope !== 'Registry' && scope !== 'Global')
    throw new Error('cacheKeyType: it must be Image, Registry or Global');
  const lasts = typeof cacheDuration === 'string' ? parseDuration(cacheDuration) : undefined;
  const auths = Object.entries(isRecord(auth) ? auth : {}).map(([registry, entry]) => {
    const { username, password } = isRecord(entry) ? entry : {};
    return [registry, { username: textOf(username), password: textOf(password) }] as const;
  });
  return { auths: new Map(auths), scope, ...(lasts === undefined ? {} : { lasts }) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What an answer is kept under: the image, its registry, or nothing in particular. */
export function cacheKey(scope: ProviderAnswer['scope'], image: string): string {
  if (scope === 'Global') return 'global';
  return scope === 'Registry' ? `registry ${image.split('/')[0] ?? ''}` : `image ${image}`;
}
