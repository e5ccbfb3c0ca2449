import { defer, forkJoin, from, fromEvent, merge, of, switchMap, takeUntil, tap, type Observable } from 'rxjs';
import { CliError, describeCliError } from './cli/cli-error.ts';
import { EXIT_CODES } from './cli/exit-codes.ts';
import { leave } from './cli/leave.ts';
import { writeLog } from './cli/log.ts';
import { parseCommandLine } from './cli/program.ts';
import { resolveRunOptions } from './cli/resolve-run-options.ts';
import { streamClient } from './cli/stream-client.ts';
import { terminalOf } from './cli/terminal.ts';
import { rxletVersion } from './cli/version.ts';

const { argv, env, stdout, stderr } = process;
const stop$ = merge(fromEvent(process, 'SIGTERM'), fromEvent(process, 'SIGINT'));

/** Nobody reads on, as with `rxlet logs web | head`. */
const deaf$ = fromEvent(stdout, 'error');
const standard = { stdin: () => process.stdin, stdout, stderr, exitWith: (code: number) => (process.exitCode = code) };

function work(): Observable<unknown> {
  const command = parseCommandLine(argv.slice(2));
  switch (command.kind) {
    case 'run': {
      const { interactive: pretty, colour } = terminalOf(stderr, env);
      const { verbosity } = command.options;
      const agent$ = from(import('./cli/run.ts')); // only the agent needs gRPC and all that
      return forkJoin([resolveRunOptions(command.options), agent$]).pipe(
        switchMap(([config, { run }]) => run(config, stop$)),
        writeLog({ verbosity, pretty, colour, write: (text) => stderr.write(text) }),
      );
    }
    case 'logs':
    case 'exec':
    case 'portForward':
      return streamClient(command, standard).pipe(tap(print), takeUntil(merge(stop$, deaf$)));
    case 'serve': {
      const served$ = from(import('./cli/simulate/serve.ts'));
      const report = (problem: string): unknown => stderr.write(`rxlet: ${problem}\n`);
      return served$.pipe(
        switchMap(({ serve }) => serve(command.options, report)),
        tap(print),
        takeUntil(stop$),
      );
    }
    case 'version':
      return of(`${rxletVersion()}\n`).pipe(tap(print));
    case 'help':
      return of(command.text).pipe(tap(print));
    case 'error':
      throw new CliError(command.exitCode, command.message, command.hint);
    default:
      return from(import('./cli/client.ts')).pipe(
        switchMap(({ client }) =>
          client(command, { terminal: () => terminalOf(stdout, env), stdin: () => process.stdin }),
        ),
        tap(print),
      );
  }
}

/** Milliseconds that calls under way get to end by themselves, once there is nothing more to do. */
const LAST_WORDS = 1_000;

defer(work).subscribe({
  complete: () => {
    setTimeout(() => {
      leave(stdout, () => process.exit());
    }, LAST_WORDS).unref();
  },
  error: (error: unknown) => {
    const isExpected = error instanceof CliError;
    stderr.write(
      isExpected ? describeCliError(error) : `rxlet: a stream that must never fail has failed: ${describe(error)}\n`,
    );
    process.exitCode = isExpected ? error.exitCode : EXIT_CODES.defect;
  },
});

function print(text: string): void {
  stdout.write(text);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
