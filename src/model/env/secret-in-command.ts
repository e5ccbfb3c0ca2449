import type { Container } from '../pod.ts';

/**
 * Whether a container's command, or the path of a mount, is made with a variable that comes from a Secret, straight or
 * through others. What the runtime complains about then may hold the value. Says yes rather than no: of an `envFrom`
 * nobody knows the names before it is read.
 */
export function hasSecretInCommand({
  command = [],
  args = [],
  env = [],
  envFrom = [],
  volumeMounts = [],
}: Container): boolean {
  const prefixes = envFrom.flatMap(({ secretRef, prefix = '' }) => (secretRef ? [prefix] : []));
  const secret = new Map<string, boolean>();
  const isSecret = (name: string): boolean => secret.get(name) ?? prefixes.some((prefix) => name.startsWith(prefix));
  const tells = (text: string): boolean => [...text.matchAll(REFERENCE)].some(([, name = '']) => isSecret(name));
  for (const { name, value = '', valueFrom } of env)
    secret.set(name, valueFrom?.secretKeyRef !== undefined || tells(value));
  return [...command, ...args, ...volumeMounts.flatMap(({ subPathExpr = '' }) => subPathExpr)].some(tells);
}

const REFERENCE = /\$\(([^)]+)\)/g;

/** What may be told of such a complaint: how it ends, where that is one of the system's own words. */
export function withoutCommand(message: string): string {
  const end = PLAIN_END.exec(message)?.[1];
  return `${end ?? 'the runtime has failed'}; its other words are held back, because the command holds a variable from a Secret`;
}

/** As much of such a complaint as may be kept; {@link withoutCommand} makes the same of it as of the whole. */
export function plainEnd(message: string): string {
  return PLAIN_END.exec(message)?.[0] ?? 'its words are held back';
}

const PLAIN_END =
  /(no such file or directory|executable file not found in \$PATH|permission denied|exec format error)(?:: unknown)?$/;
