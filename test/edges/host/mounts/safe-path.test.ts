import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openInside, openNames, pathOf } from '../../../../src/host/mounts/safe-path.ts';

let base = '';

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'rxlet-path-')));
  mkdirSync(join(base, 'volume', 'd'), { recursive: true });
  writeFileSync(join(base, 'volume', 'd', 'key'), 'harmless');
  mkdirSync(join(base, 'secret'));
  writeFileSync(join(base, 'secret', 'key'), 'the secret');
  const made = base;
  onTestFinished(() => {
    rmSync(made, { recursive: true, force: true });
  });
});

/** What a container does between our look at a path and our opening of it. */
function swapForLink(path: string, target: string): void {
  rmSync(join(base, 'volume', path), { recursive: true });
  symlinkSync(target, join(base, 'volume', path));
}

describe('openNames', () => {
  it('opens what stands at the end of the way', async () => {
    const handle = await openNames(join(base, 'volume'), ['d', 'key']);
    expect(readFileSync(pathOf(handle), 'utf8')).toBe('harmless');
    await handle.close();
  });

  it.each<[string, string, string, readonly string[]]>([
    ['a directory on the way', 'd', '../secret', ['d', 'key']],
    ['the last name', 'd/key', '../../secret/key', ['d', 'key']],
    ['the last name, by one that stays inside', 'd', '.', ['d']],
  ])('refuses a link that was put in the place of %s', async (_what, path, target, names) => {
    swapForLink(path, target);
    await expect(openNames(join(base, 'volume'), names)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('refuses a link in the place of the volume itself', async () => {
    swapForLink('d', '../secret');
    await expect(openNames(join(base, 'volume', 'd'), ['key'])).rejects.toBeInstanceOf(Error);
  });
});

describe('openInside', () => {
  it('keeps hold of what it has opened, whatever takes its name later', async () => {
    const handle = await openInside(join(base, 'volume'), 'd/key');
    swapForLink('d', '../secret');
    expect(readFileSync(pathOf(handle), 'utf8')).toBe('harmless');
    await handle.close();
  });

  it('says that a link leads out of the volume', async () => {
    swapForLink('d', '../secret');
    await expect(openInside(join(base, 'volume'), 'd/key')).rejects.toThrow(/leads out of the volume/);
  });
});
