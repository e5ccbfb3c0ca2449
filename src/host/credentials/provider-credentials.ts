import { asyncScheduler, catchError, defer, forkJoin, map, of, tap, type Observable } from 'rxjs';
import type { AuthConfig } from '../../model/cri/api.ts';
import { findAuths } from '../../model/credentials/docker-config.ts';
import { matchesRegistry } from '../../model/credentials/match-registry.ts';
import { cacheKey, type ProviderAnswer } from '../../model/credentials/provider-answer.ts';
import type { CredentialProvider } from '../../model/credentials/provider-config.ts';
import { messageOf } from '../../model/errors.ts';
import { shareByKey } from '../../operators/share-by-key.ts';
import type { Credentials } from '../../streams/ports/credentials.ts';

type Ask = (provider: CredentialProvider, image: string) => Observable<ProviderAnswer>;

/**
 * Credentials that programs know (`CredentialProviderConfig`). Each is asked only for images that it speaks of, once at
 * a time, and again only when its last answer has run out. One that fails is told and left out.
 */
export function providerCredentials(
  providers: readonly CredentialProvider[],
  ask: Ask,
  tell: (problem: string) => void,
): Credentials {
  const all = providers.map((provider) => ({ provider, answersOf: cached(provider, ask) }));

  function from(
    { name }: CredentialProvider,
    answer$: Observable<ProviderAnswer>,
    image: string,
  ): Observable<readonly AuthConfig[]> {
    return answer$.pipe(
      map(({ auths }) => findAuths(auths, image)),
      catchError((error: unknown) => {
        tell(`credential provider ${name}: ${messageOf(error)}`);
        return of([]);
      }),
    );
  }

  return {
    lookUp: (image) =>
      defer(() => {
        const asked = all.filter(({ provider }) =>
          provider.matchImages.some((pattern) => matchesRegistry(pattern, image)),
        );
        if (asked.length === 0) return of([]);
        return forkJoin(asked.map(({ provider, answersOf }) => from(provider, answersOf(image), image))).pipe(
          map((found) => found.flat()),
        );
      }),
  };
}

interface Kept {
  readonly answer: ProviderAnswer;
  readonly until: number;
}

function cached(provider: CredentialProvider, ask: Ask): (image: string) => Observable<ProviderAnswer> {
  const kept = new Map<string, Kept>();
  const program = {
    ask: shareByKey((image: string) =>
      ask(provider, image).pipe(
        tap((answer) => {
          const lasts = answer.lasts ?? provider.defaultCacheDuration;
          if (lasts > 0) kept.set(cacheKey(answer.scope, image), { answer, until: asyncScheduler.now() + lasts });
        }),
      ),
    ),
  };
  return (image) =>
    defer(() => {
      const now = asyncScheduler.now();
      for (const [key, { until }] of kept) if (until <= now) kept.delete(key);
      const found = SCOPES.map((scope) => kept.get(cacheKey(scope, image))).find((one) => one !== undefined);
      return found ? of(found.answer) : program.ask(image);
    });
}

const SCOPES: readonly ProviderAnswer['scope'][] = ['Image', 'Registry', 'Global'];
