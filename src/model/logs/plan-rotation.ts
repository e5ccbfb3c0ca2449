/** A file in the folder that a container has for the logs of all of its instances: `1.log`, `0.log.20260102-150405.gz`. */
export interface LogFile {
  readonly file: string;
  readonly bytes: number;
}

export interface RotationLimits {
  /** Bytes from which on a log is rotated. */
  readonly maxBytes: number;
  /** Files that one container may have, over all of its instances. */
  readonly maxFiles: number;
}

export type RotationStep =
  /** Rename it, and have the runtime begin a new one. */
  | { readonly kind: 'rotate'; readonly file: string; readonly to: string }
  | { readonly kind: 'remove'; readonly file: string }
  /** Keep the last bytes of it. */
  | { readonly kind: 'cut'; readonly file: string; readonly keep: number }
  | { readonly kind: 'compress'; readonly file: string };

export interface RotationFacts {
  readonly files: readonly LogFile[];
  /** The log of the newest instance. */
  readonly current: string;
  /** Whether something still writes to it. */
  readonly running: boolean;
  /** What is being compressed at the moment. */
  readonly busy: ReadonlySet<string>;
  /** The name that the log gets if it is rotated. */
  readonly rotatedName: string;
}

/**
 * Bytes by which a file may pass `maxBytes` without having been written too fast: it is full with its last line, of
 * which runtimes put at most 16 KiB into one record.
 */
const LAST_LINE = 17 * 1024;

/**
 * What is to be done in a container's log folder so that it keeps within its limits (facts sheet 23.4), in the order
 * in which it is to be done.
 *
 * The limits count for all instances of a container together, so that one that crashes all the time fills no disk
 * (user-asks 64): at most `maxFiles` files, the one that is written to included and the log of the instance before
 * aside, and `maxFiles * maxBytes` bytes, each file's last line and what waits to be compressed aside. What is
 * compressed counts as that. The oldest goes first; the log of the instance before is kept as long as there is room, for
 * `logs --previous`.
 */
export function planRotation(facts: RotationFacts, { maxBytes, maxFiles }: RotationLimits): readonly RotationStep[] {
  const { current, running, busy, rotatedName } = facts;
  const steps: RotationStep[] = [];
  const logs = facts.files.flatMap((file) => described(file) ?? []).sort(byAge);

  for (const { file } of leftovers(facts)) steps.push({ kind: 'remove', file });
  const dropped = new Set(steps.map(({ file }) => file));

  const newest = logs.find(({ file }) => file === current);
  const rotates = running && newest !== undefined && newest.bytes >= maxBytes;
  if (rotates) steps.push({ kind: 'rotate', file: current, to: rotatedName });

  const others: Described[] = logs.filter(({ file }) => file !== current && !dropped.has(file));
  if (rotates) others.push({ ...newest, file: rotatedName, rotated: true });
  const before = others.filter(({ rotated }) => !rotated).at(-1);
  const removable = others.filter((log) => log !== before);

  const kept = removable.slice(Math.max(0, removable.length - (maxFiles - 1)));
  for (const { file } of removable.slice(0, removable.length - kept.length)) steps.push({ kind: 'remove', file });

  // One that has ended grows no more; of one that runs, what it may still write is set aside.
  const still = rotates || !newest ? 0 : newest.bytes;
  const most = maxBytes + LAST_LINE;
  let room = most * maxFiles - Math.max(running ? most : 0, still);
  const isTooLong = room < 0 && !running;
  const held: Described[] = [];
  for (const log of [...(before ? [before] : []), ...kept.toReversed()]) {
    const fits = log.bytes <= room;
    const isNewest = log === before || log === kept.at(-1);
    // What is about to become small is judged once it has.
    const shrinks = log.rotated && !log.compressed && !isNewest;
    if (fits || (shrinks && room > 0)) held.push(log);
    else if (isNewest && room > 0 && !log.compressed) steps.push({ kind: 'cut', file: log.file, keep: room });
    else steps.push({ kind: 'remove', file: log.file });
    // Nothing that is older than a gap is kept.
    room = fits ? room - log.bytes : 0;
  }
  if (isTooLong) steps.push({ kind: 'cut', file: current, keep: most * maxFiles });

  // The newest part may still be written to by the runtime, and is what followers read.
  const unread = held.filter((log) => log.rotated && !log.compressed && log !== kept.at(-1) && !busy.has(log.file));
  return [...steps, ...unread.toReversed().map(({ file }): RotationStep => ({ kind: 'compress', file }))];
}

interface Described extends LogFile {
  readonly attempt: number;
  /** `YYYYMMDD-HHMMSS`; empty of a log itself. */
  readonly date: string;
  readonly rotated: boolean;
  readonly compressed: boolean;
}

const NAME = /^(?<attempt>\d+)\.log(?:\.(?<date>\d{8}-\d{6})(?<gz>\.gz)?)?$/;

function described({ file, bytes }: LogFile): Described | undefined {
  const groups = NAME.exec(file)?.groups;
  if (!groups) return undefined;
  const date = groups['date'] ?? '';
  const compressed = groups['gz'] !== undefined;
  return { file, bytes, attempt: Number(groups['attempt']), date, rotated: date !== '', compressed };
}

function byAge(a: Described, b: Described): number {
  if (a.attempt !== b.attempt) return a.attempt - b.attempt;
  if (a.rotated !== b.rotated) return a.rotated ? -1 : 1;
  return a.date < b.date ? -1 : 1;
}

/** What a compression that was cut short has left, and what one that ended had no time to remove. */
function leftovers({ files, busy }: RotationFacts): readonly LogFile[] {
  const names = new Set(files.map(({ file }) => file));
  return files.filter(({ file }) =>
    file.endsWith('.tmp') ? !busy.has(file.replace(/(?:\.gz)?\.tmp$/, '')) : names.has(`${file}.gz`) && !busy.has(file),
  );
}
