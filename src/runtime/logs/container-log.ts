import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { catchError, concatMap, defer, map, of, throwError, type Observable } from 'rxjs';
import { RuntimeError } from '../../model/errors.ts';
import { partsOf } from '../../model/logs/log-names.ts';
import type { LogOptions } from '../../model/logs/log-options.ts';
import type { Cri } from '../../streams/ports/cri.ts';
import { readLog } from './read-log.ts';

/** What a reader of logs gets: bytes, or the sentence that says why there are none. */
export type OpenedLog =
  { readonly kind: 'log'; readonly bytes: Readable } | { readonly kind: 'none'; readonly why: string };

/**
 * Opens the log of a container that the runtime knows. Emits once. The bytes end at the end of the log, or with
 * `follow` when `ended` and all is told; whoever takes them destroys them. Errors where the runtime does not answer.
 */
export function containerLog(
  cri: Pick<Cri, 'containerStatus'>,
  containerId: string,
  options: LogOptions,
  ended: AbortSignal,
): Observable<OpenedLog> {
  return cri.containerStatus({ containerId }).pipe(
    map(({ status }) => status?.logPath ?? ''),
    concatMap((path) =>
      defer(() => hasLog(path)).pipe(
        map((there): OpenedLog =>
          there
            ? { kind: 'log', bytes: readLog(path, options, ended) }
            : { kind: 'none', why: `the log of container ${containerId} is not there any more` },
        ),
      ),
    ),
    catchError((error: unknown) =>
      error instanceof RuntimeError && error.kind === 'notFound'
        ? of<OpenedLog>({ kind: 'none', why: `the runtime does not know container ${containerId} any more` })
        : throwError(() => error),
    ),
  );
}

async function hasLog(path: string): Promise<boolean> {
  if (path === '') return false;
  return partsOf(basename(path), await readdir(dirname(path)).catch(() => [])).length > 0;
}
