/**
 * Whether a pattern as in docker's config.json or in a provider's `matchImages` speaks of an image: same number of
 * parts in the host name, each matched with its wildcards; the same port; a path that begins the image's.
 */
export function matchesRegistry(pattern: string, image: string): boolean {
  const [wanted, given] = [split(pattern), split(image)];
  const [parts, others] = [wanted.host.split('.'), given.host.split('.')];
  return (
    wanted.port === given.port &&
    parts.length === others.length &&
    parts.every((part, index) => glob(part).test(others[index] ?? '')) &&
    begins(wanted.path, given.path)
  );
}

/** The key under which an entry is looked for: without scheme, and without docker's own `/v1/` and `/v2/`. */
export function registryKey(entry: string): string {
  const [, host = '', path = ''] = /^([^/]*)(.*)$/.exec(entry.replace(/^https?:\/\//, '')) ?? [];
  const own = /^\/v[12]\//.test(path) ? path.slice(3) : path;
  return own === '/' || own === '' ? host : `${host}${own}`;
}

/** Whether an image without a host of its own comes from docker's registry. */
export function isFromDefaultRegistry(image: string): boolean {
  const [first = '', ...rest] = image.split('/');
  if (rest.length === 0) return true;
  return first === 'docker.io' || first === 'index.docker.io' || !/[.:]/.test(first);
}

export const DEFAULT_REGISTRY = 'index.docker.io';

interface Parts {
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

function split(text: string): Parts {
  const [, host = '', port = '', path = ''] =
    /^(\[[^\]]*\]|[^/:]*)(?::([^/]*))?(.*)$/.exec(text.replace(/^https?:\/\//, '')) ?? [];
  return { host, port, path };
}

/** A credential for `/team` is none for `/teammates`. */
function begins(path: string, whole: string): boolean {
  const trimmed = path.replace(/\/+$/, '');
  return whole.startsWith(trimmed) && (trimmed === '' || /^(?:[/:@]|$)/.test(whole.slice(trimmed.length)));
}

function glob(part: string): RegExp {
  const source = part
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`);
}
