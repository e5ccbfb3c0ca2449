import { createReadStream } from 'node:fs';
import { constants, createGunzip } from 'node:zlib';
import { from, map, scan, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { isRecord } from '../../model/schema/check-shape.ts';
import { FORMAT, type Header, type Line } from '../recording/line.ts';

/** A file that cannot be read as a recording; `message` names file and line. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** A part of a recording, in its order. */
export interface RecordedPart {
  readonly header: Header;
  /** Number of the first of `lines` in the file; the header is line 1. */
  readonly first: number;
  readonly lines: readonly Line[];
  /** The last line was cut off: whoever wrote it was killed. */
  readonly isCut: boolean;
}

/**
 * Reads a recording part by part, compressed or not. What was cut off in its last line, or in the middle of a
 * compressed block, is read up to there; anything else that is no line of a recording is a {@link RecordingError}.
 */
export function readRecording(path: string): Observable<RecordedPart> {
  return from(textsOf(path)).pipe(
    scan((part: Part, { text, isLast }) => partOf(path, part, text, isLast), NOTHING),
    map(({ header, first, lines, isCut }): RecordedPart => {
      if (header) return { header, first, lines, isCut };
      throw new RecordingError(`${path}:1: this is no recording: it is empty`);
    }),
  );
}

interface Part extends Omit<RecordedPart, 'header'> {
  readonly header: Header | undefined;
}

const NOTHING: Part = { header: undefined, first: 1, lines: [], isCut: false };

/** Characters read at a time. */
const CHUNK = 2 ** 18;

/** Whole lines each time, but for the last. */
async function* textsOf(path: string): AsyncGenerator<{ readonly text: string; readonly isLast: boolean }> {
  let rest = '';
  try {
    const file = createReadStream(path, { highWaterMark: CHUNK });
    const bytes = path.endsWith('.gz')
      ? file.on('error', (error) => plain.destroy(error)).pipe(createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }))
      : file;
    const plain = bytes;
    for await (const chunk of plain.setEncoding('utf8') as AsyncIterable<string>) {
      const end = chunk.lastIndexOf('\n');
      if (end < 0) {
        rest += chunk;
        continue;
      }
      yield { text: rest + chunk.slice(0, end), isLast: false };
      rest = chunk.slice(end + 1);
    }
  } catch (error) {
    throw new RecordingError(`cannot read ${path}: ${messageOf(error)}`);
  }
  yield { text: rest, isLast: true };
}

function partOf(path: string, former: Part, text: string, isLast: boolean): Part {
  const next = former.first + former.lines.length + (former.header && former.first === 1 ? 1 : 0);
  let { header } = former;
  const first = former.header ? next : 1;
  const texts = text === '' && isLast ? [] : text.split('\n');
  const lines: Line[] = [];
  let isCut = false;
  for (const [index, one] of texts.entries()) {
    const number = first + index;
    const parsed = parse(one);
    if (parsed === undefined && isLast && header) {
      isCut = true;
      continue;
    }
    if (!header) header = headerOf(parsed, path);
    else lines.push(lineOf(parsed, `${path}:${number}`));
  }
  return { header, first: former.header ? first : 2, lines, isCut };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function headerOf(value: unknown, path: string): Header {
  if (!isRecord(value) || value['recording'] === undefined)
    throw new RecordingError(`${path}:1: this is no recording of rxlet run --record`);
  if (value['recording'] !== FORMAT)
    throw new RecordingError(
      `${path}:1: the form of this recording is ${JSON.stringify(value['recording'])}, this rxlet reads ${FORMAT}`,
    );
  return value as unknown as Header;
}

const KINDS: Readonly<Record<Line['k'], readonly string[]>> = {
  def: ['n'],
  page: ['t'],
  look: ['t', 'id'],
  seen: ['t', 'id'],
  blind: ['t', 'id'],
  unseen: ['t', 'id'],
  begin: ['t', 'id'],
  report: ['t', 'id'],
  end: ['t', 'id'],
  cut: ['t', 'id'],
  call: ['t', 'n'],
  answer: ['t', 'n'],
  error: ['t', 'n'],
  done: ['t', 'n'],
  dropped: ['t', 'n'],
  wants: ['t', 'n'],
  probe: ['t'],
  clock: ['t', 'ahead'],
};

function lineOf(value: unknown, place: string): Line {
  if (!isRecord(value)) throw new RecordingError(`${place}: this is no line of a recording: it is no JSON object`);
  const kind = value['k'];
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind))
    throw new RecordingError(`${place}: this is no line of a recording: nothing is known of the kind ${String(kind)}`);
  const missing = KINDS[kind as Line['k']].find((field) => typeof value[field] !== 'number');
  if (missing !== undefined)
    throw new RecordingError(`${place}: this is no line of a recording: ${missing} is no number`);
  return value as unknown as Line;
}
