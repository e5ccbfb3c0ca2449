import type { Container } from '../pod.ts';
import { configMapOf, secretOf, type ObjectSet } from '../objects/object-set.ts';

type EnvSource = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>;
type EnvFrom = NonNullable<Container['envFrom']>[number];

/** What an object says to a container, or why it cannot; `absent` is what may be left out, and is. */
export type ObjectValue<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'problem'; readonly message: string };

/** The value of a `configMapKeyRef` or `secretKeyRef`; `undefined` for a variable that is from somewhere else. */
export function keyValue(source: EnvSource, namespace: string, objects: ObjectSet): ObjectValue<string> | undefined {
  const { configMapKeyRef, secretKeyRef } = source;
  const ref = configMapKeyRef ?? secretKeyRef;
  if (!ref) return undefined;
  const { name = '', key, optional = false } = ref;
  const [kind, data] = configMapKeyRef
    ? ['ConfigMap', configMapOf(objects, namespace, name)?.data]
    : ['Secret', secretTexts(objects, namespace, name)];
  if (!data) return optional ? { kind: 'absent' } : missing(kind, name);
  if (Object.hasOwn(data, key)) return { kind: 'value', value: data[key] ?? '' };
  return optional
    ? { kind: 'absent' }
    : { kind: 'problem', message: `couldn't find key ${key} in ${kind} ${namespace}/${name}` };
}

/** All variables of one entry of `envFrom`; binary data of a ConfigMap are none. */
export function allValues(
  { prefix = '', configMapRef, secretRef }: EnvFrom,
  namespace: string,
  objects: ObjectSet,
): ObjectValue<readonly (readonly [name: string, value: string])[]> {
  const ref = configMapRef ?? secretRef;
  if (!ref) return { kind: 'absent' };
  const { name = '', optional = false } = ref;
  const [kind, data] = configMapRef
    ? ['ConfigMap', configMapOf(objects, namespace, name)?.data]
    : ['Secret', secretTexts(objects, namespace, name)];
  if (!data) return optional ? { kind: 'absent' } : missing(kind, name);
  return { kind: 'value', value: Object.entries(data).map(([key, value]) => [`${prefix}${key}`, value]) };
}

function missing(kind: string, name: string): { readonly kind: 'problem'; readonly message: string } {
  return { kind: 'problem', message: `${kind.toLowerCase()} "${name}" not found` };
}

function secretTexts(
  objects: ObjectSet,
  namespace: string,
  name: string,
): Readonly<Record<string, string>> | undefined {
  const secret = secretOf(objects, namespace, name);
  if (!secret) return undefined;
  return Object.fromEntries(
    Object.entries(secret.data).map(([key, encoded]) => [key, Buffer.from(encoded, 'base64').toString('utf8')]),
  );
}
