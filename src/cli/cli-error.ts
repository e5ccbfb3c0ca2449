import type { ExitCode } from './exit-codes.ts';

/** An end that the user can do something about: what happened, what to do, and the exit code it ends with. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  /** What to do about it; empty where the message says it all. */
  readonly hint: string;

  constructor(exitCode: ExitCode, message: string, hint = '') {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The lines to print for it on standard error. */
export function describeCliError({ message, hint }: Pick<CliError, 'message' | 'hint'>): string {
  return hint === '' ? `rxlet: ${message}\n` : `rxlet: ${message}\n${hint}\n`;
}
