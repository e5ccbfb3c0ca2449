import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { catchError, lastValueFrom, map, of, reduce } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replay as command } from '../../../../src/cli/commands/replay.ts';
import { CliError } from '../../../../src/cli/cli-error.ts';
import type { ReplayOptions } from '../../../../src/cli/command.ts';
import type { Line } from '../../../../src/cli/recording/line.ts';
import { recordingFile, type RecordingLimits } from '../../../../src/cli/recording/recording-file.ts';
import { readRecording } from '../../../../src/cli/replay/read-recording.ts';
import { until } from '../../../e2e/harness/until.ts';
import { canMount, mountGround } from '../../mount-ground.ts';

let folder: string;
let path: string;
let problems: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-recording-'));
  path = join(folder, 'bug.rec');
  problems = [];
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const HEADER = JSON.stringify({
  recording: 1,
  rxlet: '0.1.0',
  at: 0,
  node: 'n1',
  seed: 1,
  clock: 0,
  ground: { has: [], kept: [], book: { runtimeName: 'r', hostIps: [], update: 'prepare' }, backoff: {} },
});
const WAKE = '{"t":5,"k":"page","event":{"kind":"allSeen"},"decided":{}}';

function open(limits?: RecordingLimits): ReturnType<typeof recordingFile> {
  return recordingFile(path, (problem) => problems.push(problem), limits);
}

function linesOf(file: string): Promise<readonly Line[]> {
  return lastValueFrom(readRecording(file).pipe(reduce((all: readonly Line[], { lines }) => [...all, ...lines], [])));
}

/** What the command says, and how it ends. */
function said(options: Partial<ReplayOptions> = {}): Promise<{ readonly text: string; readonly code: number }> {
  return lastValueFrom(
    command({ file: path, format: 'text', until: undefined, ...options }).pipe(
      map((text) => ({ text, code: 0 })),
      catchError((error: unknown) => {
        if (!(error instanceof CliError)) throw error;
        return of({ text: error.message, code: error.exitCode });
      }),
    ),
  );
}

describe('recordingFile', () => {
  it.each(['bug.rec', 'bug.rec.gz'])(
    'writes %s, readable by its owner only, and it is read as it was written',
    async (name) => {
      path = join(folder, name);
      const file = open();
      for (const line of [HEADER, WAKE, ...Array.from({ length: 20_000 }, (_, n) => `{"t":6,"k":"end","id":${n}}`)])
        file.write(line);
      file.close();
      const lines = await until('the file to be whole', async () => {
        const found = await linesOf(path);
        return found.length === 20_001 && found;
      });
      expect(lines[0]).toEqual(JSON.parse(WAKE));
      expect(lines.at(-1)).toEqual({ t: 6, k: 'end', id: 19_999 });
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(problems).toEqual([]);
    },
  );

  it('has a line on disk a moment after it was written', async () => {
    const file = open();
    file.write(HEADER);
    await until('the line', () => readFileSync(path, 'utf8') === `${HEADER}\n`);
    file.close();
  });

  it('keeps what stood there before', () => {
    writeFileSync(path, 'before');
    open().close();
    expect(readFileSync(`${path}.old`, 'utf8')).toBe('before');
  });

  it('ends, and says why once, where the file cannot be made', async () => {
    path = join(folder, 'not-there', 'bug.rec');
    const file = open();
    file.write(HEADER);
    await until('the problem', () => problems.length > 0);
    file.write(WAKE);
    file.close();
    expect(problems).toEqual([expect.stringMatching(`the recording ${path} ends here, the agent goes on: ENOENT`)]);
  });

  it('takes the place of no folder and no device', () => {
    mkdirSync(path);
    open().write(HEADER);
    expect(problems).toEqual([expect.stringContaining('what is there is no file')]);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it.runIf(canMount).each(['bug.rec', 'bug.rec.gz'])(
    'ends %s, and says why once, when the disk is full',
    async (name) => {
      const disk = join(mountGround(), 'disk');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
      path = join(disk, name);
      const file = open();
      file.write(HEADER);
      await until('the problem', () => {
        for (let n = 0; n < 1_000; n++) file.write(`{"t":6,"k":"probe","container":"${randomUUID()}"}`);
        return problems.length > 0;
      });
      expect(problems).toEqual([expect.stringContaining('ENOSPC')]);
      const lines = await linesOf(path);
      expect(name.endsWith('.gz') || lines.length > 100).toBe(true);
    },
  );

  it('ends where it is as long as it may be, and what is there can be read', async () => {
    const file = open({ size: 100_000, backlog: 2 ** 24 });
    file.write(HEADER);
    await until('the end', () => {
      for (let n = 0; n < 1_000; n++) file.write(`{"t":6,"k":"end","id":${n}}`);
      return problems.length > 0;
    });
    expect(problems).toEqual([expect.stringContaining('it is longer than')]);
    await expect(until('the file', () => linesOf(path))).resolves.not.toHaveLength(0);
  });

  it('ends where the disk falls too far behind', () => {
    const file = open({ size: 2 ** 30, backlog: 10_000 });
    for (let n = 0; n < 1_000; n++) file.write(WAKE);
    expect(problems).toEqual([expect.stringContaining('the disk is too slow for it')]);
  });
});

describe('rxlet replay', () => {
  it('replays up to where the last line was cut off', async () => {
    writeFileSync(path, `${HEADER}\n${WAKE}\n${WAKE.slice(0, 20)}`);
    const { text, code } = await said();
    expect(text).toContain('replayed 2 lines');
    expect(text).toContain('the recording ends in the midst of a line, which was left out');
    expect(code).toBe(0);
  });

  it('replays a compressed recording up to where it was cut off', async () => {
    path = join(folder, 'bug.rec.gz');
    const wakes = Array.from({ length: 5_000 }, (_, n) => WAKE.replace('5', String(n)));
    writeFileSync(path, gzipSync([HEADER, ...wakes].join('\n')));
    truncateSync(path, Math.floor(statSync(path).size / 2));
    const { text, code } = await said({ format: 'json' });
    expect(JSON.parse(text)).toMatchObject({ equal: true, isCut: true });
    expect(code).toBe(0);
  });

  it.each([
    ['', 1, 'this is no recording'],
    ['{"some":"json"}\n', 1, 'this is no recording of rxlet run --record'],
    [HEADER.replace('"recording":1', '"recording":2'), 1, 'the form of this recording is 2, this rxlet reads 1'],
    [`${HEADER}\n${WAKE}\nrubbish\n${WAKE}\n`, 3, 'this is no line of a recording: it is no JSON object'],
    [
      `${HEADER}\n{"t":1,"k":"dance"}\n${WAKE}\n`,
      2,
      'this is no line of a recording: nothing is known of the kind dance',
    ],
    [`${HEADER}\n{"t":1,"k":"call","to":"x"}\n${WAKE}\n`, 2, 'this is no line of a recording: n is no number'],
    [
      `${HEADER}\n{"t":1,"k":"page","event":{"$ref":9},"decided":{}}\n`,
      2,
      'this line cannot be understood: it means value 9',
    ],
  ])('refuses %j, and names line %i', async (text, line, message) => {
    writeFileSync(path, text);
    const answer = await said();
    expect(answer.text).toContain(`${path}:${line}: ${message}`);
    expect(answer.code).toBe(2);
  });

  it('refuses a file that is not there', async () => {
    const { text, code } = await said();
    expect(text).toContain(`cannot read ${path}: ENOENT`);
    expect(code).toBe(2);
  });

  it('ends with 1 where something is decided otherwise, and shows what', async () => {
    writeFileSync(path, `${HEADER}\n${WAKE.replace('{}}', '{"work":[{"do":"sync"}]}}')}\n`);
    const texts = await lastValueFrom(
      command({ file: path, format: 'text', until: undefined }).pipe(
        catchError((error: unknown) => of(error)),
        reduce((all: readonly unknown[], one) => [...all, one], []),
      ),
    );
    expect(texts).toEqual([
      expect.stringMatching(
        /diverged at 1970-01-01 00:00:00\.005 UTC \(\+0\.005 s, line 2\)[^]*work\n {4}- \[\{"do":"sync"\}\]\n {4}\+ \(nothing\)/,
      ),
      expect.objectContaining({ exitCode: 1 }),
    ]);
  });
});
