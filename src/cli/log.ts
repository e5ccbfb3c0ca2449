import { asyncScheduler, filter, ignoreElements, map, pipe, scan, tap, type OperatorFunction } from 'rxjs';
import { EMPTY_LOG_MEMORY, hushRepeats } from './hush-repeats.ts';
import { formatJsonLine, formatPrettyLine, type LogLevel, type LogLine, type StampedLine } from './log-line.ts';

export interface LogConfig {
  /** As `--v`: below 4 no debug lines. */
  readonly verbosity: number;
  /** Lines for people, else JSON. */
  readonly pretty: boolean;
  readonly colour: boolean;
  readonly write: (text: string) => void;
}

/**
 * Writes log lines, each error and warning at most once a minute. Emits nothing; completes and errors with its source.
 */
export function writeLog(config: LogConfig): OperatorFunction<LogLine, never> {
  const format = config.pretty ? (line: StampedLine) => formatPrettyLine(line, config.colour) : formatJsonLine;
  return pipe(
    filter(({ level }: LogLine) => isShown(level, config.verbosity)),
    scan((memory, line: LogLine) => hushRepeats(memory, line, asyncScheduler.now()), EMPTY_LOG_MEMORY),
    map(({ line }) => line),
    filter((line) => line !== undefined),
    tap((line) => {
      config.write(format(line));
    }),
    ignoreElements(),
  );
}

/** From `--v 4` on, as in Kubernetes, every step is shown. */
function isShown(level: LogLevel, verbosity: number): boolean {
  return level !== 'debug' || verbosity >= 4;
}
