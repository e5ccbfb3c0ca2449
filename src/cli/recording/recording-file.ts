import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { createGzip, constants, type Gzip } from 'node:zlib';
import { messageOf } from '../../model/errors.ts';

export interface RecordingFile {
  /** Takes one line, without its end. Never waits and never throws. */
  readonly write: (line: string) => void;
  readonly close: () => void;
}

export interface RecordingLimits {
  /** Bytes of the file, as it is on disk, after which the recording ends. */
  readonly size: number;
  /** Bytes that may wait to be written; a disk that falls further behind ends the recording. */
  readonly backlog: number;
}

const LIMITS: RecordingLimits = { size: 2 ** 30, backlog: 2 ** 24 };

/** Milliseconds that a line waits at most for others before it goes to the disk. */
const PATIENCE = 100;

/** Milliseconds between two points up to which a compressed file can be read when it was cut off. */
const FLUSH = 1_000;

/**
 * Writes a file of lines, readable by its owner only, and compressed where its name ends in `.gz`. What stood at its
 * path before is kept as `<path>.old`.
 *
 * The writing never holds up who writes: when the file cannot be made or written, is too long, or the disk is too slow,
 * the recording ends there, and `onProblem` hears of it, once.
 */
export function recordingFile(
  path: string,
  onProblem: (message: string) => void,
  limits: RecordingLimits = LIMITS,
): RecordingFile {
  let isOver = false;
  let waiting: string[] = [];
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  let flusher: NodeJS.Timeout | undefined;
  let file: WriteStream | undefined;
  let gzip: Gzip | undefined;

  function end(problem: string | undefined): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    clearInterval(flusher);
    send();
    if (problem !== undefined) onProblem(`the recording ${path} ends here, the agent goes on: ${problem}`);
    (gzip ?? file)?.end();
  }

  function send(): void {
    timer = undefined;
    if (waiting.length === 0) return;
    (gzip ?? file)?.write(`${waiting.join('\n')}\n`);
    waiting = [];
    characters = 0;
  }

  function check(): void {
    const behind = (file?.writableLength ?? 0) + (gzip?.writableLength ?? 0) + characters;
    if (behind > limits.backlog) end('the disk is too slow for it');
    else if ((file?.bytesWritten ?? 0) > limits.size) end(`it is longer than ${limits.size / 2 ** 20} MiB`);
  }

  try {
    const former = statSync(path, { throwIfNoEntry: false });
    if (former && !former.isFile()) throw new Error('what is there is no file');
    if (former) renameSync(path, `${path}.old`);
    file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
    file.on('error', (error) => {
      gzip?.unpipe();
      end(error.message);
    });
    if (path.endsWith('.gz')) {
      gzip = createGzip();
      gzip.pipe(file);
      const compressor = gzip;
      flusher = setInterval(() => {
        compressor.flush(constants.Z_SYNC_FLUSH);
      }, FLUSH).unref();
    }
  } catch (error) {
    end(messageOf(error));
  }

  return {
    write: (line) => {
      if (isOver) return;
      waiting.push(line);
      characters += line.length + 1;
      if (characters > 2 ** 16) {
        clearTimeout(timer);
        send();
      } else timer ??= setTimeout(send, PATIENCE).unref();
      check();
    },
    close: () => {
      if (isOver) return;
      end(undefined);
    },
  };
}
