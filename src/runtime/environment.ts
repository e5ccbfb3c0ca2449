import { concatMap, EMPTY, endWith, from, map, of, reduce, take, throwError, type Observable } from 'rxjs';
import { parseEnvFile } from '../model/env/env-file.ts';
import { fieldValue, type PodAddresses } from '../model/env/field-value.ts';
import { allValues, keyValue, type ObjectValue } from '../model/env/object-variables.ts';
import { resourceValue } from '../model/env/resource-value.ts';
import { expand } from '../model/expand.ts';
import type { ObjectSet } from '../model/objects/object-set.ts';
import { emptyDirPath, type NodePaths } from '../model/paths.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { ResourceList } from '../model/pod-resources.ts';
import type { Files } from '../streams/ports/files.ts';
import { StartError } from './ensure-image.ts';

/** The variables of a container. */
export type Environment = ReadonlyMap<string, string>;

type Variable = NonNullable<Container['env']>[number];
type FileKey = NonNullable<NonNullable<Variable['valueFrom']>['fileKeyRef']>;

interface Ground {
  readonly files: Files;
  readonly paths: NodePaths;
  readonly objects$: Observable<ObjectSet>;
  readonly facts: { readonly allocatable: ResourceList };
}

const LONGEST_KEY = 128;
const LONGEST_VALUE = 32 * 1_024;

/**
 * Works out the variables of a container (facts sheet 13): those of whole objects first, then the others in their order,
 * so that later ones see earlier ones, and the last one of a name wins. Emits once and completes; errors with a {@link StartError} where one cannot be had.
 */
export function environmentOf(
  pod: Pod,
  container: Container,
  addresses: PodAddresses,
  ground: Ground,
): Observable<Environment> {
  return ground.objects$.pipe(
    take(1),
    concatMap((objects) => {
      const environment = new Map<string, string>();
      for (const source of container.envFrom ?? []) {
        const found = allValues(source, pod.metadata.namespace, objects);
        if (found.kind === 'problem') return refuse(found.message);
        if (found.kind === 'value') for (const [name, value] of found.value) environment.set(name, value);
      }
      return from(container.env ?? []).pipe(
        concatMap((variable) =>
          valueOf(variable, pod, container, addresses, environment, objects, ground).pipe(
            map((value) => {
              if (value !== undefined) environment.set(variable.name, value);
            }),
          ),
        ),
        reduce(() => environment, environment),
      );
    }),
  );
}

/** `undefined` where the variable may be left out, and is. */
function valueOf(
  { value = '', valueFrom }: Variable,
  pod: Pod,
  container: Container,
  addresses: PodAddresses,
  known: Environment,
  objects: ObjectSet,
  ground: Ground,
): Observable<string | undefined> {
  if (value !== '') return of(expand(value, known));
  if (valueFrom?.fieldRef) return of(fieldValue(pod, valueFrom.fieldRef.fieldPath, addresses));
  const ofObject = valueFrom && keyValue(valueFrom, pod.metadata.namespace, objects);
  if (ofObject) return told(ofObject);
  if (valueFrom?.resourceFieldRef) {
    const found = resourceValue(pod.spec, container, valueFrom.resourceFieldRef, ground.facts.allocatable);
    return found.kind === 'value' ? of(found.text) : refuse(found.message);
  }
  return valueFrom?.fileKeyRef ? fileValue(valueFrom.fileKeyRef, pod, ground) : of('');
}

function told(found: ObjectValue<string>): Observable<string | undefined> {
  if (found.kind === 'problem') return refuse(found.message);
  return of(found.kind === 'value' ? found.value : undefined);
}

/** Read when the container starts, since an init container may have written it just now (KEP-3721). */
function fileValue(
  { key, path, volumeName, optional = false }: FileKey,
  pod: Pod,
  { files, paths }: Ground,
): Observable<string | undefined> {
  if (!pod.spec.volumes?.some(({ name, emptyDir }) => name === volumeName && emptyDir !== undefined))
    return refuse(`cannot find the volume "${volumeName}" referenced by FileKeyRef`);
  if (key.length > LONGEST_KEY)
    return refuse(`environment variable key "${key}" exceeds maximum length of ${LONGEST_KEY} characters`);
  const volume = emptyDirPath(paths, pod.metadata.uid, volumeName);
  return withoutLinks(volume, path, files).pipe(
    concatMap((file) => files.readFile(file)),
    concatMap((text): Observable<string | undefined> => {
      if (text === undefined && optional) return of(undefined);
      const variables = text === undefined ? undefined : parseEnvFile(text);
      if (!variables) return refuse("couldn't parse env file");
      const value = variables.get(key) ?? '';
      if (value.length > LONGEST_VALUE)
        return refuse(`environment variable value for key "${key}" exceeds maximum size of 32KB`);
      if (value !== '') return of(value);
      return optional ? of(undefined) : refuse(`environment variable key "${key}" not found in file`);
    }),
  );
}

/** Emits the file's path. A link in the volume could lead anywhere on the node, and is not followed. */
function withoutLinks(volume: string, path: string, files: Files): Observable<string> {
  const steps = path.split('/').filter((step) => step !== '' && step !== '.');
  const places = steps.map((_step, depth) => [volume, ...steps.slice(0, depth + 1)].join('/'));
  if (steps.includes('..')) return refuse("couldn't parse env file");
  return from(places).pipe(
    concatMap((place) => files.readLink(place)),
    concatMap((target) => (target === undefined ? EMPTY : refuse("couldn't parse env file"))),
    endWith([volume, ...steps].join('/')),
  );
}

function refuse(message: string): Observable<never> {
  return throwError(() => new StartError('CreateContainerConfigError', message));
}
