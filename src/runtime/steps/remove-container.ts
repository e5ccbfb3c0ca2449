import { concat, concatMap, EMPTY, ignoreElements, type Observable } from 'rxjs';
import type { ObservedContainer } from '../../model/observed.ts';
import { containerLink } from '../../model/paths.ts';
import type { Pod } from '../../model/pod.ts';
import type { PerformContext } from '../perform-context.ts';
import { unlessGone } from '../stop-pod.ts';

/**
 * Removes a container that has ended, with its link and, unless that is to be kept, its log. Completes when that is
 * done; errors where the runtime refuses it.
 */
export function removeContainer(
  pod: Pod,
  container: ObservedContainer,
  keepsLog: boolean,
  { cri, files, paths }: PerformContext,
): Observable<never> {
  const log = container.detail?.logPath ?? '';
  return concat(
    files.removeFile(containerLink(paths, pod.metadata, container.name, container.id)).pipe(ignoreElements()),
    unlessGone(cri.removeContainer({ containerId: container.id })),
    keepsLog || log === '' ? EMPTY : removeLog(log, files),
  );
}

/** With the parts of it that were rotated away. */
function removeLog(path: string, files: PerformContext['files']): Observable<never> {
  const slash = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, slash), path.slice(slash + 1)];
  return files.list(folder).pipe(
    concatMap((names) => [name, ...names.filter((each) => each.startsWith(`${name}.`))]),
    concatMap((each) => files.removeFile(`${folder}/${each}`)),
    ignoreElements(),
  );
}
