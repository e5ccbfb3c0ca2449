import { allContainers } from '../containers.ts';
import type { Container, Pod } from '../pod.ts';
import { objectKey, type ObjectKey } from './local-object.ts';

/** Every object that a pod names: of its variables, volumes and pull secrets. */
export function referencesOf({ metadata: { namespace }, spec }: Pod): ReadonlySet<ObjectKey> {
  const keys = new Set<ObjectKey>();
  const config = (name = ''): void => void keys.add(objectKey('ConfigMap', namespace, name));
  const secret = (name = ''): void => void keys.add(objectKey('Secret', namespace, name));
  for (const container of allContainers(spec))
    for (const key of variableReferences(container, namespace)) keys.add(key);
  for (const volume of spec.volumes ?? []) {
    if (volume.configMap) config(volume.configMap.name);
    if (volume.secret) secret(volume.secret.secretName);
    for (const source of volume.projected?.sources ?? []) {
      if (source.configMap) config(source.configMap.name);
      if (source.secret) secret(source.secret.name);
    }
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim !== undefined) keys.add(objectKey('PersistentVolumeClaim', namespace, claim));
  }
  for (const { name } of spec.imagePullSecrets ?? []) secret(name);
  return keys;
}

/** The objects that a container has variables from, each once, in the order of the manifest. */
export function variableReferences({ env = [], envFrom = [] }: Container, namespace: string): readonly ObjectKey[] {
  const keys = [
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...(configMapRef ? [objectKey('ConfigMap', namespace, configMapRef.name ?? '')] : []),
      ...(secretRef ? [objectKey('Secret', namespace, secretRef.name ?? '')] : []),
    ]),
    ...env.flatMap(({ valueFrom }) => [
      ...(valueFrom?.configMapKeyRef ? [objectKey('ConfigMap', namespace, valueFrom.configMapKeyRef.name ?? '')] : []),
      ...(valueFrom?.secretKeyRef ? [objectKey('Secret', namespace, valueFrom.secretKeyRef.name ?? '')] : []),
    ]),
  ];
  return [...new Set(keys)];
}
