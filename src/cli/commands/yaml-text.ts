import { defer, map, type Observable } from 'rxjs';

/** A value as YAML; the library for it is loaded only when it is asked for. */
export function yamlText(value: unknown): Observable<string> {
  return defer(() => import('yaml')).pipe(map(({ stringify }) => stringify(value, { aliasDuplicateObjects: false })));
}
