import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeLogFiles } from '../../../../src/host/logs/node-log-files.ts';

let folder = '';
let log = '';
const files = nodeLogFiles();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-log-files-'));
  log = join(folder, '0.log');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('nodeLogFiles', () => {
  it('tells sizes, of files alone, and nothing of what is missing', async () => {
    writeFileSync(log, '12345');
    mkdirSync(join(folder, 'folder'));
    expect(await firstValueFrom(files.size(log))).toBe(5);
    expect(await firstValueFrom(files.size(`${log}x`))).toBeUndefined();
    expect(await firstValueFrom(files.sizes(folder))).toEqual([{ file: '0.log', bytes: 5 }]);
    expect(await firstValueFrom(files.sizes(join(folder, 'none')))).toEqual([]);
  });

  it.each([
    [
      'is written to',
      () => {
        appendFileSync(log, '6');
      },
    ],
    [
      'is renamed',
      () => {
        renameSync(log, `${log}.1`);
      },
    ],
    [
      'is removed',
      () => {
        rmSync(log);
      },
    ],
  ])('tells when a file %s', async (_, change) => {
    writeFileSync(log, '12345');
    const changed = firstValueFrom(files.changedFrom(log, 5));
    change();
    await expect(changed).resolves.toBeUndefined();
  });

  it('tells at once that a file has changed already, and fails of one that there is not', async () => {
    writeFileSync(log, '12345');
    await expect(firstValueFrom(files.changedFrom(log, 4))).resolves.toBeUndefined();
    await expect(firstValueFrom(files.changedFrom(`${log}x`, 4))).rejects.toThrow('ENOENT');
  });

  it('compresses a file as a whole, readable for those who may read logs', async () => {
    writeFileSync(log, 'text '.repeat(1_000));
    await firstValueFrom(files.compress(log));
    expect(readdirSync(folder)).toEqual(['0.log.gz']);
    expect(gunzipSync(readFileSync(`${log}.gz`)).toString()).toBe('text '.repeat(1_000));
    expect(statSync(`${log}.gz`).mode & 0o777).toBe(0o640);
  });

  it('minds nothing that was removed meanwhile', async () => {
    await firstValueFrom(files.compress(log));
    await firstValueFrom(files.remove(log));
    await firstValueFrom(files.keepEnd(log, 5));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps whole lines from the end of a file', async () => {
    writeFileSync(log, 'first\nsecond\nthird\n');
    await firstValueFrom(files.keepEnd(log, 100));
    expect(readFileSync(log, 'utf8')).toBe('first\nsecond\nthird\n');
    await firstValueFrom(files.keepEnd(log, 15));
    expect(readFileSync(log, 'utf8')).toBe('second\nthird\n');
    await firstValueFrom(files.keepEnd(log, 13));
    expect(readFileSync(log, 'utf8')).toBe('second\nthird\n');
    await firstValueFrom(files.keepEnd(log, 12));
    expect(readFileSync(log, 'utf8')).toBe('third\n');
    expect(existsSync(`${log}.tmp`)).toBe(false);
  });
});
