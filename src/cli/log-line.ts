/** From what must be seen to what only helps to find a fault. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** What the line is about, as `pod` or `container`. */
  readonly fields?: Readonly<Record<string, string | number | boolean>>;
}

/** A line that is to be written, at its time. */
export interface StampedLine extends LogLine {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** How often the same text has come since it was last written. */
  readonly repeated: number;
}

/** One JSON object, for machines that collect logs. */
export function formatJsonLine({ at, level, message, fields = {}, repeated }: StampedLine): string {
  const line = { time: new Date(at).toISOString(), level, message, ...fields };
  return `${JSON.stringify(repeated > 0 ? { ...line, repeated } : line)}\n`;
}

/** One line for people: `12:34:56 warn  message pod=default/web`. */
export function formatPrettyLine({ at, level, message, fields = {}, repeated }: StampedLine, colour: boolean): string {
  const time = new Date(at).toTimeString().slice(0, 8);
  const label = level.padEnd(5);
  const about = Object.entries(fields).map(([key, value]) => ` ${key}=${quoted(String(value))}`);
  const again = repeated > 0 ? ` (${repeated} more since it was last shown)` : '';
  const head = colour ? `${DIM}${time}${RESET} ${COLOURS[level]}${label}${RESET}` : `${time} ${label}`;
  return `${head} ${message.replaceAll('\n', '\n               ')}${about.join('')}${again}\n`;
}

const RESET = '\u001b[0m';
const DIM = '\u001b[2m';
const COLOURS: Readonly<Record<LogLevel, string>> = {
  error: '\u001b[31m',
  warn: '\u001b[33m',
  info: '\u001b[32m',
  debug: '\u001b[36m',
};

function quoted(value: string): string {
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
