import { catchError, map, mergeMap, of, type Observable } from 'rxjs';
import type { ContainerStatus } from '../model/cri/api.ts';
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from '../model/cri/labels.ts';
import { lastLines } from '../model/log-lines.ts';
import { fromRoot } from '../model/paths.ts';
import type { Files } from '../streams/ports/files.ts';

const MAX_FILE_BYTES = 4_096;
const MAX_LOG_LINES = 80;
const MAX_LOG_BYTES = 2_048;
/** Time stamps and tags take room in the log, too. */
const LOG_TAIL_BYTES = 4 * MAX_LOG_BYTES + 64 * MAX_LOG_LINES;

/**
 * What a container that ended has to say about it (facts sheet 17): the end of the file at its terminationMessagePath,
 * or under FallbackToLogsOnError, where that is empty and the exit code is not 0, the end of its log. Emits one text,
 * empty where there is none; never errors, since a message is no reason to know less of the pod.
 */
export function terminationMessage(status: ContainerStatus, files: Pick<Files, 'readFile'>): Observable<string> {
  const path = status.annotations?.[TERMINATION_MESSAGE_PATH];
  const file = path && status.mounts?.find(({ containerPath }) => containerPath === fromRoot(path))?.hostPath;
  const fallsBack =
    status.annotations?.[TERMINATION_MESSAGE_POLICY] === 'FallbackToLogsOnError' && (status.exitCode ?? 0) !== 0;
  const fromFile$ = file ? files.readFile(file, { tailBytes: MAX_FILE_BYTES }).pipe(map((text) => text ?? '')) : of('');
  return fromFile$.pipe(
    catchError(() => of('')),
    mergeMap((text) => (text === '' && fallsBack && status.logPath ? fromLog(status.logPath, files) : of(text))),
  );
}

function fromLog(path: string, files: Pick<Files, 'readFile'>): Observable<string> {
  return files.readFile(path, { tailBytes: LOG_TAIL_BYTES }).pipe(
    map((log) => lastLines(log ?? '', MAX_LOG_LINES, MAX_LOG_BYTES)),
    catchError(() => of('')),
  );
}
