/** The whole name of an image: `busybox` is short for `docker.io/library/busybox:latest`. Ids stay as they are. */
export function fullReference(reference: string): string {
  if (reference.startsWith('sha256:')) return reference;
  const [first = '', ...rest] = reference.split('/');
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const [host, ...path] = hasHost ? [first, ...rest] : ['docker.io', first, ...rest];
  const repository = host === 'docker.io' && path.length === 1 ? `library/${path[0] ?? ''}` : path.join('/');
  const isWhole = /[@:]/.test(path.at(-1) ?? '');
  return `${host}/${repository}${isWhole ? '' : ':latest'}`;
}
