import { defer, map, type Observable } from 'rxjs';

/**
 * A value as YAML; the library for it is loaded only when it is asked for: by a file of ours, because in the bundle a
 * package of the CommonJS kind that is itself imported late has lost its names.
 */
export function yamlText(value: unknown): Observable<string> {
  return defer(() => import('./stringify-yaml.ts')).pipe(map(({ stringifyYaml }) => stringifyYaml(value)));
}
