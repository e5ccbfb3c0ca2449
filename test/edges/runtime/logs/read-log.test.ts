import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WHOLE_LOG, type LogOptions } from '../../../../src/model/logs/log-options.ts';
import { readLog } from '../../../../src/runtime/logs/read-log.ts';
import { PATIENT } from '../../../patience.ts';

let folder = '';
let log = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-log-'));
  log = join(folder, '0.log');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A record of the second `at` of some minute. */
function record(text: string, { at = 0, stream = 'stdout', tag = 'F' } = {}): string {
  return `2026-01-02T15:04:${String(at).padStart(2, '0')}.123456789Z ${stream} ${tag} ${text}\n`;
}

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => record(`line ${from + index}`)).join('');
}

function read(options: Partial<LogOptions> = {}): Promise<string> {
  return textOf(readLog(log, { ...WHOLE_LOG, ...options }, new AbortController().signal));
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Follows the log; what was told so far is in `text()`. */
function follow(options: Partial<LogOptions> = {}): {
  readonly text: () => string;
  readonly end: () => Promise<string>;
} {
  const ended = new AbortController();
  const stream = readLog(log, { ...WHOLE_LOG, follow: true, ...options }, ended.signal);
  let told = '';
  stream.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const closed = new Promise<string>((resolve, reject) => {
    stream.on('end', () => {
      resolve(told);
    });
    stream.on('error', reject);
  });
  return {
    text: () => told,
    end() {
      ended.abort();
      return closed;
    },
  };
}

describe('readLog', () => {
  it('tells what the container wrote, without what the runtime wrote around it', async () => {
    writeFileSync(log, record('one') + record('') + record('  two words ', { stream: 'stderr' }));
    expect(await read()).toBe('one\n\n  two words \n');
  });

  it('joins the parts of a line, each stream for itself', async () => {
    writeFileSync(
      log,
      record('aa', { tag: 'P' }) +
        record('bb', { tag: 'P', stream: 'stderr' }) +
        record('AA', { at: 5 }) +
        record('BB', { stream: 'stderr', at: 6 }) +
        record('left', { tag: 'P' }),
    );
    expect(await read()).toBe('aaAA\nbbBB\nleft');
    expect(await read({ timestamps: true })).toContain('T15:04:00.123456789Z bbBB\n');
  });

  it('tells the time at which each line began', async () => {
    writeFileSync(log, record('aa', { tag: 'P', at: 1 }) + record('AA', { at: 2 }));
    expect(await read({ timestamps: true })).toBe('2026-01-02T15:04:01.123456789Z aaAA\n');
  });

  it('tells one stream alone', async () => {
    writeFileSync(log, record('out') + record('err', { stream: 'stderr' }));
    expect(await read({ stream: 'Stdout' })).toBe('out\n');
    expect(await read({ stream: 'Stderr' })).toBe('err\n');
  });

  it('leaves out what is no record', async () => {
    writeFileSync(log, `half a line from a crash\n${record('good')}`);
    expect(await read()).toBe('good\n');
  });

  it('begins at a time, and lets a clock that was set back take nothing away', async () => {
    writeFileSync(log, record('early', { at: 1 }) + record('late', { at: 9 }) + record('set back', { at: 2 }));
    expect(await read({ since: Date.parse('2026-01-02T15:04:05Z') })).toBe('late\nset back\n');
  });

  it('ends after as many bytes as are wanted', async () => {
    writeFileSync(log, numbered(0, 10_000));
    expect(await read({ limitBytes: 10 })).toBe('line 0\nlin');
  });

  it('keeps bytes that are no text', async () => {
    writeFileSync(log, Buffer.concat([Buffer.from(record('').slice(0, -1)), Buffer.from([0xff, 0x00, 0x80, 0x0a])]));
    const stream = readLog(log, WHOLE_LOG, new AbortController().signal);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect([...Buffer.concat(chunks)]).toEqual([0xff, 0x00, 0x80, 0x0a]);
  });

  it('says so where there is no log', async () => {
    await expect(read()).rejects.toThrow(`there is no log at ${log}`);
  });

  it('reads over rotated parts, compressed or not, in their order', async () => {
    writeFileSync(`${log}.20260102-150405.gz`, gzipSync(numbered(0, 5_000)));
    writeFileSync(`${log}.20260102-150406`, numbered(5_000, 9_000));
    writeFileSync(`${log}.20260102-150406.gz`, 'half written');
    writeFileSync(`${log}.20260102-150407.tmp`, 'none of it');
    writeFileSync(log, numbered(9_000, 9_010));
    expect(await read()).toBe(lines(0, 9_010));
  });
});

describe('the last lines of a log', () => {
  it.each([0, 1, 2, 9, 10, 11, 3_999, 4_009, 4_010, 4_011, 9_009, 9_010, 20_000])(
    'are %i of them over all parts, where there are as many',
    async (tailLines) => {
      writeFileSync(`${log}.20260102-150405.gz`, gzipSync(numbered(0, 5_000)));
      writeFileSync(`${log}.20260102-150406`, numbered(5_000, 9_000));
      writeFileSync(log, numbered(9_000, 9_010));
      expect(await read({ tailLines })).toBe(lines(Math.max(0, 9_010 - tailLines), 9_010));
    },
  );

  it('are found whatever the length of lines is to that of the blocks in which they are read', async () => {
    for (const length of [65_480, 65_481, 65_482, 65_483, 65_484, 65_485, 65_536, 200_000]) {
      const long = 'x'.repeat(length);
      writeFileSync(log, record('first') + record(long) + record('') + record(long) + record('last'));
      expect(await read({ tailLines: 2 })).toBe(`${long}\nlast\n`);
      expect(await read({ tailLines: 4 })).toBe(`${long}\n\n${long}\nlast\n`);
    }
  });

  it('are whole lines, and count a line that has no end yet', async () => {
    writeFileSync(log, record('before') + record('aa', { tag: 'P' }) + record('AA') + record('open', { tag: 'P' }));
    expect(await read({ tailLines: 1 })).toBe('open');
    expect(await read({ tailLines: 2 })).toBe('aaAA\nopen');
    expect(await read({ tailLines: 3 })).toBe('before\naaAA\nopen');
  });

  it('are those of the stream that is wanted', async () => {
    writeFileSync(log, record('out') + record('err', { stream: 'stderr' }) + record('err', { stream: 'stderr' }));
    expect(await read({ tailLines: 1, stream: 'Stdout' })).toBe('out\n');
  });

  it('come from a large log without reading it as a whole', async () => {
    writeFileSync(log, record('first'));
    truncateSync(log, 2 ** 36); // a hole of 64 GiB, which nobody could read in time
    appendFileSync(log, `\n${numbered(0, 3)}`);
    expect(await read({ tailLines: 2 })).toBe(lines(1, 3));
  });
});

describe('following a log', () => {
  it('tells what is written later, and ends with the container once all is told', async () => {
    writeFileSync(log, record('one'));
    const following = follow();
    await vi.waitFor(() => {
      expect(following.text()).toBe('one\n');
    }, PATIENT);
    appendFileSync(log, record('two'));
    await vi.waitFor(() => {
      expect(following.text()).toBe('one\ntwo\n');
    }, PATIENT);
    appendFileSync(log, record('three'));
    expect(await following.end()).toBe('one\ntwo\nthree\n');
  });

  it('begins with the lines from the end', async () => {
    writeFileSync(log, numbered(0, 10));
    const following = follow({ tailLines: 1 });
    await vi.waitFor(() => {
      expect(following.text()).toBe('line 9\n');
    }, PATIENT);
    appendFileSync(log, record('more'));
    expect(await following.end()).toBe('line 9\nmore\n');
  });

  it('goes on from the beginning of a log that was cut down in its place', async () => {
    writeFileSync(log, numbered(0, 3));
    const following = follow();
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(0, 3));
    }, PATIENT);
    truncateSync(log, 0);
    appendFileSync(log, record('new'));
    expect(await following.end()).toBe(`${lines(0, 3)}new\n`);
  });

  it('user-asks 65: loses no line and tells none twice when the log is rotated, also what is written late to the old file', async () => {
    writeFileSync(`${log}.20260102-150400.gz`, gzipSync(numbered(0, 10)));
    writeFileSync(log, numbered(10, 20));
    const following = follow({ tailLines: 5 });
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(15, 20));
    }, PATIENT);

    renameSync(log, `${log}.20260102-150405`);
    appendFileSync(`${log}.20260102-150405`, numbered(20, 30));
    writeFileSync(log, '');
    appendFileSync(`${log}.20260102-150405`, numbered(30, 40));
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(15, 40));
    }, PATIENT);
    appendFileSync(log, numbered(40, 50));
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(15, 50));
    }, PATIENT);

    // Several at once, compressed and thinned out before anybody could look.
    compress(`${log}.20260102-150405`);
    renameSync(log, `${log}.20260102-150406`);
    compress(`${log}.20260102-150406`);
    writeFileSync(`${log}.20260102-150407.gz`, gzipSync(numbered(50, 60)));
    unlinkSync(`${log}.20260102-150400.gz`);
    writeFileSync(log, numbered(60, 70));
    expect(await following.end()).toBe(lines(15, 70));
  });

  it('user-asks 65: tells what is written late to a part that was rotated before anybody looked at it', async () => {
    writeFileSync(log, numbered(0, 10));
    const following = follow();
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(0, 10));
    }, PATIENT);
    const [first, second] = [`${log}.20260102-150405`, `${log}.20260102-150406`];
    renameSync(log, first);
    writeFileSync(second, numbered(10, 20));
    writeFileSync(log, '');
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(0, 20));
    }, PATIENT);
    appendFileSync(second, numbered(20, 30));
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(0, 30));
    }, PATIENT);
    appendFileSync(log, numbered(30, 40));
    expect(await following.end()).toBe(lines(0, 40));
  });

  it.each([false, true])('knows again what was cut down to its end (and then compressed: %s)', async (isCompressed) => {
    writeFileSync(log, numbered(0, 30));
    const following = follow();
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(0, 30));
    }, PATIENT);
    const rotated = `${log}.20260102-150405`;
    renameSync(log, `${rotated}.old`);
    writeFileSync(rotated, numbered(20, 25));
    if (isCompressed) compress(rotated);
    writeFileSync(log, numbered(30, 40));
    expect(await following.end()).toBe(lines(0, 40));
  });

  it('tells nothing twice of a log that was cut down to its end once its container had ended', async () => {
    writeFileSync(log, numbered(0, 30));
    const following = follow();
    await vi.waitFor(() => {
      expect(following.text()).toBe(lines(0, 30));
    }, PATIENT);
    writeFileSync(`${log}.tmp`, numbered(10, 30));
    renameSync(`${log}.tmp`, log);
    expect(await following.end()).toBe(lines(0, 30));
  });

  it('follows a writer that never pauses over many rotations, with a reader that does', async () => {
    writeFileSync(log, '');
    const ended = new AbortController();
    const stream = readLog(log, { ...WHOLE_LOG, follow: true }, ended.signal);
    const reading = textOf(stream);
    for (let round = 0; round < 20; round++) {
      appendFileSync(log, numbered(round * 500, round * 500 + 250));
      await delay(5);
      const rotated = `${log}.20260102-1504${String(round).padStart(2, '0')}`;
      renameSync(log, rotated);
      appendFileSync(rotated, numbered(round * 500 + 250, round * 500 + 500));
      writeFileSync(log, '');
      if (round > 0) compress(`${log}.20260102-1504${String(round - 1).padStart(2, '0')}`);
    }
    ended.abort();
    expect(await reading).toBe(lines(0, 10_000));
  });

  it('lets go of its files when nobody listens any more', async () => {
    writeFileSync(log, record('one'));
    const stream = readLog(log, { ...WHOLE_LOG, follow: true }, new AbortController().signal);
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
    await vi.waitFor(
      () => {
        expect(openFiles()).not.toContain(log);
      },
      { timeout: 10_000 },
    );
  });
});

function compress(path: string): void {
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)));
  unlinkSync(path);
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('');
}

function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}
