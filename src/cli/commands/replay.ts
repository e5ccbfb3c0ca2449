import { catchError, concat, concatMap, of, throwError, type Observable } from 'rxjs';
import { CliError } from '../cli-error.ts';
import type { ReplayOptions } from '../command.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import { readRecording, RecordingError } from '../replay/read-recording.ts';
import { renderReplay } from '../replay/render-replay.ts';
import { replay as replayed, type Replayed } from '../replay/replay.ts';

/**
 * `rxlet replay`: emits text for standard output, and completes. Errors with a {@link CliError} at its end where the
 * replay parts from the recording (exit code 1), or where that cannot be read (2).
 */
export function replay({ file, format, until }: ReplayOptions): Observable<string> {
  return replayed(readRecording(file), file, until).pipe(
    concatMap((result) => {
      const text$ = of(format === 'json' ? printJson(result) : renderReplay(result));
      if (!result.divergence) return text$;
      return concat(
        text$,
        throwError(() => new CliError(EXIT_CODES.findings, 'what is decided now is not what was decided then')),
      );
    }),
    catchError((error: unknown) =>
      throwError(() => (error instanceof RecordingError ? new CliError(EXIT_CODES.usage, error.message) : error)),
    ),
  );
}

function printJson({ divergence, ...result }: Replayed): string {
  return `${JSON.stringify({ equal: divergence === undefined, ...result, divergence }, undefined, 2)}\n`;
}
