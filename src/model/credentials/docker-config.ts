import type { AuthConfig } from '../cri/api.ts';
import { isRecord } from '../schema/check-shape.ts';
import { DEFAULT_REGISTRY, isFromDefaultRegistry, matchesRegistry, registryKey } from './match-registry.ts';

/** What a file of docker knows, by registry. */
export type DockerAuths = ReadonlyMap<string, AuthConfig>;

/** Reads docker's `config.json` (with `auths`) or the older `.dockercfg` (without). Throws where it is no JSON. */
export function readDockerConfig(text: string): DockerAuths {
  const parsed = JSON.parse(text) as unknown;
  if (!isRecord(parsed)) throw new Error('it holds no object');
  const auths = isRecord(parsed['auths']) ? parsed['auths'] : 'auths' in parsed ? {} : parsed;
  return new Map(
    Object.entries(auths).flatMap(([registry, entry]): (readonly [string, AuthConfig])[] => {
      const auth = isRecord(entry) ? authOf(entry) : undefined;
      return auth ? [[registry, auth]] : [];
    }),
  );
}

/** Every entry that speaks of the image, the longest first: it says the most. */
export function findAuths(auths: DockerAuths, image: string): readonly AuthConfig[] {
  const keyed = [...auths]
    .map(([registry, auth]) => [registryKey(registry), auth] as const)
    .toSorted(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0));
  const found = keyed.filter(([key]) => matchesRegistry(key, image));
  if (found.length > 0 || !isFromDefaultRegistry(image)) return found.map(([, auth]) => auth);
  return keyed.filter(([key]) => key === DEFAULT_REGISTRY).map(([, auth]) => auth);
}

function authOf(entry: Readonly<Record<string, unknown>>): AuthConfig | undefined {
  const text = (field: string): string => (typeof entry[field] === 'string' ? entry[field] : '');
  const decoded = Buffer.from(text('auth'), 'base64').toString('utf8').replace(/\0+$/, '');
  const colon = decoded.indexOf(':');
  const [user, secret] = colon < 0 ? ['', ''] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
  const auth = {
    username: user === '' ? text('username') : user,
    password: colon < 0 ? text('password') : secret,
    identityToken: text('identitytoken'),
    registryToken: text('registrytoken'),
  };
  const said = Object.entries(auth).filter(([, value]) => value !== '');
  return said.length === 0 ? undefined : Object.fromEntries(said);
}
