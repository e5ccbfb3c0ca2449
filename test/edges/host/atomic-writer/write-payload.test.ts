import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  mkdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writePayload } from '../../../../src/host/atomic-writer/write-payload.ts';
import type { Payload } from '../../../../src/streams/ports/volume-files.ts';

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-payload-'));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

const files = (texts: Readonly<Record<string, string>>, mode = 0o644): Payload =>
  new Map(Object.entries(texts).map(([path, content]) => [path, { content, mode }]));
const nothing = (): Promise<void> => Promise.resolve();
const names = (dir: string): readonly string[] => readdirSync(dir).sort();
const read = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');
const mode = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe('writePayload', () => {
  it('files stand in a folder named by the time, behind the link ..data and a link for each first name', async () => {
    const dir = folder();
    const at = new Date('2026-11-29T16:22:01.5Z');
    expect(await writePayload(dir, files({ labels: 'a="b"', 'deep/er/one': '1' }), nothing, at)).toBe(true);
    const stamped = readlinkSync(join(dir, '..data'));
    expect(stamped).toMatch(/^\.\.2026_11_29_16_22_01\.\d+$/);
    expect(names(dir)).toEqual([stamped, '..data', 'deep', 'labels'].sort());
    expect(readlinkSync(join(dir, 'labels'))).toBe('..data/labels');
    expect(readlinkSync(join(dir, 'deep'))).toBe('..data/deep');
    expect([read(dir, 'labels'), read(dir, 'deep/er/one')]).toEqual(['a="b"', '1']);
    expect([mode(join(dir, stamped)), mode(join(dir, 'deep/er')), mode(join(dir, 'labels'))]).toEqual([
      '755',
      '755',
      '644',
    ]);
  });

  it('a file has its mode whatever the umask', async () => {
    const dir = folder();
    const before = process.umask(0o077);
    try {
      await writePayload(
        dir,
        new Map([
          ['open', { content: '', mode: 0o666 }],
          ['shut', { content: '', mode: 0o400 }],
        ]),
        nothing,
      );
    } finally {
      process.umask(before);
    }
    expect([mode(join(dir, 'open')), mode(join(dir, 'shut'))]).toEqual(['666', '400']);
  });

  it('files that are up to date are not touched', async () => {
    const dir = folder();
    await writePayload(dir, files({ a: '1' }), nothing);
    const before = readlinkSync(join(dir, '..data'));
    expect(await writePayload(dir, files({ a: '1' }), nothing)).toBe(false);
    expect(readlinkSync(join(dir, '..data'))).toBe(before);
  });

  it('all files are replaced at once by a swap of ..data, and the old ones removed', async () => {
    const dir = folder();
    await writePayload(dir, files({ a: '1', old: 'x', 'd/e': '1' }), nothing);
    let seen: readonly string[] = [];
    await writePayload(dir, files({ a: '2', 'd/f': '2' }), () => {
      seen = [read(dir, 'a'), read(dir, 'old'), read(dir, 'd/e')];
      return nothing();
    });
    expect(seen).toEqual(['1', 'x', '1']);
    expect(read(dir, 'a')).toBe('2');
    expect(names(join(dir, 'd'))).toEqual(['f']);
    expect(names(dir)).toEqual([readlinkSync(join(dir, '..data')), '..data', 'a', 'd'].sort());
  });

  it.each([
    ['a changed text', files({ a: '2' })],
    ['a changed mode', files({ a: '1' }, 0o600)],
    ['a file more', files({ a: '1', b: '1' })],
    ['a file less', files({})],
  ])('all files are written anew for %s', async (_what, payload) => {
    const dir = folder();
    await writePayload(dir, files({ a: '1' }), nothing);
    expect(await writePayload(dir, payload, nothing)).toBe(true);
    expect(names(dir).filter((name) => !name.startsWith('..'))).toEqual([...payload.keys()]);
  });

  it('when writing fails the old files stay in sight and no rubbish is left', async () => {
    const dir = folder();
    await writePayload(dir, files({ a: '1' }), nothing);
    const before = names(dir);
    await expect(
      writePayload(dir, files({ a: '2' }), () => Promise.reject(new Error('no such group'))),
    ).rejects.toThrow('no such group');
    expect(names(dir)).toEqual(before);
    expect(read(dir, 'a')).toBe('1');
  });

  it('what a crash in the midst of writing has left behind is cleared away', async () => {
    const dir = folder();
    await writePayload(dir, files({ a: '1', b: '1' }), nothing);
    mkdirSync(join(dir, '..2020_01_01_00_00_00.7'));
    symlinkSync('..2020_01_01_00_00_00.7', join(dir, '..data_tmp'));
    rmSync(join(dir, 'b'));
    expect(await writePayload(dir, files({ a: '1', b: '1' }), nothing)).toBe(true);
    expect(names(dir)).toEqual([readlinkSync(join(dir, '..data')), '..data', 'a', 'b'].sort());
  });

  it('folders that were made for mounts inside of the volume stay', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'tls'));
    await writePayload(dir, files({ a: '1' }), nothing);
    expect(await writePayload(dir, files({ a: '1' }), nothing)).toBe(false);
    expect(names(dir)).toContain('tls');
  });

  it.each(['../x', 'a/../../x', '/x', '', 'a//b', '..data', './a'])(
    'the path %j of a file is refused',
    async (path) => {
      await expect(writePayload(folder(), files({ [path]: '' }), nothing)).rejects.toMatchObject({ code: 'EINVAL' });
    },
  );
});
