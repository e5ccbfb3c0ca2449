/** A file that belongs to the log of one instance of a container: the log itself, or a part that was rotated away. */
export interface LogPart {
  readonly file: string;
  /** `YYYYMMDD-HHMMSS` of a rotated part; absent of the log itself. */
  readonly rotated?: string;
  readonly compressed: boolean;
}

const ROTATED = /^\.(?<rotated>\d{8}-\d{6})(?<gz>\.gz)?$/;

/**
 * The parts of a log among the files of its folder, oldest first (facts sheet 23.4: `0.log.20260102-150405.gz`).
 * While a part is being compressed it is there twice; then it is told once, as it was.
 */
export function partsOf(log: string, files: readonly string[]): readonly LogPart[] {
  const parts = new Map<string, LogPart>();
  for (const file of files) {
    const part = partOf(log, file);
    const key = part?.rotated ?? LAST;
    if (part && parts.get(key)?.compressed !== false) parts.set(key, part);
  }
  return [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
}

/** After every date. */
const LAST = '~';

function partOf(log: string, file: string): LogPart | undefined {
  if (file === log) return { file, compressed: false };
  const groups = file.startsWith(log) ? ROTATED.exec(file.slice(log.length))?.groups : undefined;
  const rotated = groups?.['rotated'];
  return rotated === undefined ? undefined : { file, rotated, compressed: groups?.['gz'] !== undefined };
}

/** The name to rotate a log to: of this second, or of the first one after the newest part. `now`: milliseconds since 1970. */
export function rotationName(log: string, parts: readonly LogPart[], now: number): string {
  const newest = parts.reduce((last, { rotated = '' }) => (rotated > last ? rotated : last), '');
  const stamp = stampOf(now);
  return `${log}.${stamp > newest ? stamp : stampOf(momentOf(newest) + 1_000)}`;
}

function stampOf(milliseconds: number): string {
  const digits = new Date(milliseconds).toISOString().replace(/\D/g, '');
  return `${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}

function momentOf(stamp: string): number {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
    /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)$/.exec(stamp) ?? [];
  const moment = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(moment) ? 0 : moment;
}
