/** How rxlet ends, for scripts and units (docs/operating.md). */
export const EXIT_CODES = {
  /** Done, or stopped by a signal as asked. */
  ok: 0,
  /** What was asked to be found was found: `validate` has problems, `plan` has changes, `simulate` is not as expected, `replay` diverges. */
  findings: 1,
  /** The command line or the configuration is wrong; starting again does not help. */
  usage: 2,
  /** The machine does not let rxlet start: no permission, or another agent is running. */
  cannotStart: 3,
  /** There is no agent to ask, or it does not answer. */
  noAgent: 4,
  /** A defect in rxlet: something that must never fail has failed (EX_SOFTWARE of sysexits.h). */
  defect: 70,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** Each code in a line, for `--help`. */
export const EXIT_CODES_HELP = `Exit codes:
  0  done, or stopped by a signal as asked
  1  rxlet validate: there are problems; rxlet plan: there are changes;
     rxlet simulate: something is not as expected;
     rxlet replay: something is decided otherwise
  2  the command line or the configuration is wrong
  3  rxlet cannot start on this machine (permission, another agent running)
  4  no agent answers on the socket
  70 a defect in rxlet`;
