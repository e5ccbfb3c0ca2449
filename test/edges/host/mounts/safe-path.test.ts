import fc from 'fast-check';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeInside, openInside, openNames, pathOf } from '../../../../src/host/mounts/safe-path.ts';

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
  it('a path is opened name by name to what stands at its end', async () => {
    const handle = await openNames(join(base, 'volume'), ['d', 'key']);
    expect(readFileSync(pathOf(handle), 'utf8')).toBe('harmless');
    await handle.close();
  });

  it.each<[string, string, string, readonly string[]]>([
    ['a directory on the way', 'd', '../secret', ['d', 'key']],
    ['the last name', 'd/key', '../../secret/key', ['d', 'key']],
    ['the last name, by one that stays inside', 'd', '.', ['d']],
  ])('a link that was put in the place of %s meanwhile is refused', async (_what, path, target, names) => {
    swapForLink(path, target);
    await expect(openNames(join(base, 'volume'), names)).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('a link in the place of the volume itself is refused', async () => {
    swapForLink('d', '../secret');
    await expect(openNames(join(base, 'volume', 'd'), ['key'])).rejects.toBeInstanceOf(Error);
  });
});

describe('openInside', () => {
  it('what was opened is held, whatever takes its name later', async () => {
    const handle = await openInside(join(base, 'volume'), 'd/key');
    swapForLink('d', '../secret');
    expect(readFileSync(pathOf(handle), 'utf8')).toBe('harmless');
    await handle.close();
  });

  it('a link that leads out of the volume is refused', async () => {
    swapForLink('d', '../secret');
    await expect(openInside(join(base, 'volume'), 'd/key')).rejects.toThrow(/leads out of the volume/);
  });

  it('nothing outside of the volume is opened or made, whatever links a container has made and whatever path is asked for', async () => {
    const names = fc.constantFrom('a', 'b', 'c', 'key');
    const step = fc.oneof(names, fc.constantFrom('.', '..', '', 'secret', 'volume'));
    const path = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join('/'));
    const target = fc.oneof(
      path,
      path.map((inside) => `/${inside}`),
      fc.constantFrom('../secret', '/', `${base}/secret`),
    );
    const links = fc.array(fc.tuple(fc.array(names, { minLength: 1, maxLength: 3 }), target), { maxLength: 6 });
    let trees = 0;
    await fc.assert(
      fc.asyncProperty(links, path, async (tree, asked) => {
        trees += 1;
        const volume = join(base, `tree-${trees}`, 'volume');
        mkdirSync(volume, { recursive: true });
        for (const [way, to] of tree) makeLink(volume, way, to);
        const outside = [...listing(base)];
        const handle = await openInside(volume, asked).catch(() => undefined);
        const opened = handle ? readlinkSync(pathOf(handle)) : volume;
        await handle?.close();
        await makeInside(volume, asked, 0o755).catch(() => undefined);
        expect(`${opened}/`.startsWith(`${volume}/`), `${asked} opened ${opened}`).toBe(true);
        expect([...listing(base)]).toEqual(outside);
      }),
      { seed: 15, numRuns: 150 },
    );
  });
});

/** As far as what is already there lets it. */
function makeLink(volume: string, way: readonly string[], target: string): void {
  try {
    mkdirSync(join(volume, ...way.slice(0, -1)), { recursive: true });
    if (target !== '') symlinkSync(target, join(volume, ...way));
  } catch {
    // A link or a file stands in the way.
  }
}

/** Everything below a folder but what is in volumes. */
function* listing(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    yield path;
    if (entry.isDirectory() && entry.name !== 'volume') yield* listing(path);
  }
}
