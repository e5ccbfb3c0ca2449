import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scanManifests, type ManifestScan } from '../../../../src/sources/file/scan-manifests.ts';

let dir = '';
/** Milliseconds since the last change of the directory or a file in it, as the scan believes. */
let age = 0;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rxlet-scan-'));
  vi.spyOn(asyncScheduler, 'now').mockImplementation(() => lastChange() + age);
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

function lastChange(): number {
  const times = ['a.yaml', 'b.yaml', '.'].map(
    (name) => statSync(join(dir, name), { throwIfNoEntry: false })?.ctimeMs ?? 0,
  );
  return Math.max(...times);
}

function scanAt(milliseconds: number, former?: ManifestScan): Promise<ManifestScan> {
  age = milliseconds;
  return firstValueFrom(scanManifests(dir, former));
}

function textsOf(scan: ManifestScan): readonly string[] {
  if (scan.kind === 'failed') return [scan.message];
  return [
    ...scan.files.map(({ content }) => ('text' in content ? content.text : content.unreadable)),
    ...(scan.unsettled ? ['unsettled'] : []),
  ];
}

function write(name: string, text: string): void {
  writeFileSync(join(dir, name), text);
}

function makeFifo(name: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(dir, name)]);
}

describe('scanManifests', () => {
  it('reads a new file at once', async () => {
    write('a.yaml', 'one');
    expect(textsOf(await scanAt(0))).toEqual(['one']);
  });

  it('waits for a file that is being written in place, then reads it', async () => {
    write('a.yaml', 'one');
    const before = await scanAt(5_000);
    write('a.yaml', 'two');
    const during = await scanAt(19, before);
    expect(textsOf(during)).toEqual(['one', 'unsettled']);
    expect(textsOf(await scanAt(20, during))).toEqual(['two']);
  });

  it('does not wait for a file that was made empty and is being filled, nor for one that was replaced', async () => {
    write('a.yaml', '');
    write('b.yaml', 'one');
    const before = await scanAt(5_000);
    write('a.yaml', 'one');
    write('new', 'two');
    renameSync(join(dir, 'new'), join(dir, 'b.yaml'));
    expect(textsOf(await scanAt(1, before))).toEqual(['one', 'two']);
  });

  it('does not wait for a file whose time lies in the future', async () => {
    write('a.yaml', 'one');
    const before = await scanAt(5_000);
    write('a.yaml', 'two');
    expect(textsOf(await scanAt(-1_000, before))).toEqual(['two']);
  });

  it('keeps the very content of a file that did not change, touched or not', async () => {
    write('a.yaml', 'one');
    write('b.yaml', 'one');
    const before = await scanAt(5_000);
    utimesSync(join(dir, 'b.yaml'), new Date(), new Date());
    const after = await scanAt(5_000, before);
    if (before.kind === 'failed' || after.kind === 'failed') throw new Error('the directory cannot be read');
    expect(after.files[0]).toBe(before.files[0]);
    expect(after.files[1]?.content).toBe(before.files[1]?.content);
  });

  it('reads a file again while a second change could hide behind the time stamp of the first', async () => {
    write('a.yaml', 'one');
    const stampAt = async (milliseconds: number): Promise<string | undefined> => {
      const scan = await scanAt(milliseconds);
      return scan.kind === 'read' ? scan.files[0]?.stamp : undefined;
    };
    expect(await stampAt(1_900)).toBeUndefined();
    expect(await stampAt(2_100)).toBeDefined();
  });

  it('holds a file that is away for a moment, then gives it up', async () => {
    write('a.yaml', 'one');
    const before = await scanAt(5_000);
    rmSync(join(dir, 'a.yaml'));
    const missing = await scanAt(1_000, before);
    expect(textsOf(missing)).toEqual(['one', 'unsettled']);
    const stillMissing = await scanAt(1_019, missing);
    expect(textsOf(stillMissing)).toEqual(['one', 'unsettled']);
    expect(textsOf(await scanAt(1_020, stillMissing))).toEqual([]);
  });

  it('takes a file that came back as if it had never been away', async () => {
    write('a.yaml', 'one');
    const before = await scanAt(5_000);
    renameSync(join(dir, 'a.yaml'), join(dir, 'away'));
    const missing = await scanAt(1_000, before);
    renameSync(join(dir, 'away'), join(dir, 'a.yaml'));
    const back = await scanAt(5_000, missing);
    expect(textsOf(back)).toEqual(['one']);
    rmSync(join(dir, 'a.yaml'));
    expect(textsOf(await scanAt(9_000, back))).toEqual(['one', 'unsettled']);
  });

  it('does not hold a file that has a new name', async () => {
    write('a.yaml', 'one');
    const before = await scanAt(5_000);
    renameSync(join(dir, 'a.yaml'), join(dir, 'b.yaml'));
    const after = await scanAt(5_000, before);
    expect(after.kind === 'read' && after.files.map(({ path }) => path)).toEqual([join(dir, 'b.yaml')]);
  });

  it('tells files in the order of their names, whatever order they were made in', async () => {
    for (const name of ['b.yaml', 'c.yaml', 'B.yaml', 'a.yml', 'a.json']) write(name, name);
    expect(textsOf(await scanAt(5_000))).toEqual(['B.yaml', 'a.json', 'a.yml', 'b.yaml', 'c.yaml']);
  });

  it('looks into no directory below its own, whatever that is called', async () => {
    mkdirSync(join(dir, 'sub.yaml'));
    write('sub.yaml/a.yaml', 'no');
    mkdirSync(join(dir, 'sub'));
    write('sub/a.yaml', 'no');
    write('a.yaml', 'one');
    expect(textsOf(await scanAt(5_000))).toEqual(['one']);
  });

  it('passes over what is neither a file nor leads to one', async () => {
    makeFifo('fifo.yaml');
    symlinkSync('nowhere', join(dir, 'dangling.yaml'));
    symlinkSync('/dev/null', join(dir, 'device.yaml'));
    write('a.yaml', 'one');
    expect(textsOf(await scanAt(5_000))).toEqual(['one']);
  });

  it('follows a link to the file that it leads to', async () => {
    write('elsewhere', 'one');
    symlinkSync('elsewhere', join(dir, 'a.yaml'));
    expect(textsOf(await scanAt(5_000))).toEqual(['one']);
  });

  it('reads a file of 10 MiB, and none that is larger', async () => {
    write('a.yaml', 'x'.repeat(10 * 1024 * 1024));
    write('b.yaml', 'x'.repeat(10 * 1024 * 1024 + 1));
    const [largest, tooLarge] = textsOf(await scanAt(5_000));
    expect(largest).toHaveLength(10 * 1024 * 1024);
    expect(tooLarge).toBe('is larger than 10 MiB (10485761 bytes)');
  });

  it('looks at a single file of any name', async () => {
    write('the-pod', 'one');
    age = 5_000;
    const scan = await firstValueFrom(scanManifests(join(dir, 'the-pod')));
    expect(textsOf(scan)).toEqual(['one']);
  });

  it('fails where the path is neither a file nor a directory', async () => {
    makeFifo('fifo');
    const scan = await firstValueFrom(scanManifests(join(dir, 'fifo')));
    expect(scan).toEqual({ kind: 'failed', message: 'is neither a file nor a directory' });
  });

  it('says when there is nothing at the path', async () => {
    rmSync(dir, { recursive: true });
    const scan = await firstValueFrom(scanManifests(dir));
    expect(scan).toEqual({ kind: 'read', files: [], missing: 'there is no such file or directory', unsettled: false });
  });
});
