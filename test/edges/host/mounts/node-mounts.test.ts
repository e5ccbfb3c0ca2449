import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { writePayload } from '../../../../src/host/atomic-writer/write-payload.ts';
import { nodeMounts } from '../../../../src/host/mounts/node-mounts.ts';
import { SubPathError } from '../../../../src/streams/ports/mounts.ts';
import { canMount, mountGround, mountsIn } from '../../mount-ground.ts';

const mounts = nodeMounts();
const mode = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe.skipIf(!canMount)('nodeMounts', () => {
  it('memory of a volume is a tmpfs of its size, found by looking, and unmounted', async () => {
    const base = mountGround();
    const target = join(base, 'with blank');
    mkdirSync(target);
    await firstValueFrom(mounts.mountMemory(target, 8 * 1024 ** 2));
    const line = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .find((text) => text.includes(`${base}/with\\040blank`));
    expect(line).toContain('size=8192k');
    expect(await firstValueFrom(mounts.below(base))).toEqual([{ target, type: 'tmpfs' }]);
    await firstValueFrom(mounts.unmount(target));
    expect(await firstValueFrom(mounts.below(base))).toEqual([]);
  });

  it('memory of a volume is never swapped where the kernel can forbid it', async () => {
    const base = mountGround();
    const [target, probe] = [join(base, 'm'), join(base, 'p')];
    mkdirSync(target);
    mkdirSync(probe);
    await firstValueFrom(mounts.mountMemory(target, 4096));
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'noswap', 'tmpfs', probe]);
    const line = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .find((text) => text.includes(` ${target} `));
    expect(/\bnoswap\b/.test(line ?? '')).toBe(status === 0);
  });

  it('tells mounts below a path that leads over a link as below that path', async () => {
    const base = mountGround();
    mkdirSync(join(base, 'real', 'pod', 'v'), { recursive: true });
    symlinkSync('real', join(base, 'link'));
    await firstValueFrom(mounts.mountMemory(join(base, 'real', 'pod', 'v'), 4096));
    expect(await firstValueFrom(mounts.below(join(base, 'link', 'pod')))).toEqual([
      { target: join(base, 'link', 'pod', 'v'), type: 'tmpfs' },
    ]);
  });

  it('says what mount said when a mount fails', async () => {
    const base = mountGround();
    const target = join(base, 'nowhere');
    const failing$ = mounts.mount({ source: 'none', target, type: 'tmpfs', options: ['ro'] });
    await expect(firstValueFrom(failing$)).rejects.toThrow(
      /^mount failed: exit status 32\nMounting command: mount\nMounting arguments: --no-canonicalize -t tmpfs -o ro none .*\/nowhere\nOutput: .*mount point does not exist/s,
    );
  });

  describe('bindInside', () => {
    interface Place {
      readonly base: string;
      readonly volume: string;
      readonly target: string;
    }

    function place(): Place {
      const base = mountGround();
      const volume = join(base, 'volume');
      mkdirSync(volume);
      chmodSync(volume, 0o777);
      mkdirSync(join(base, 'secret'));
      writeFileSync(join(base, 'secret', 'key'), 'the secret');
      return { base, volume, target: join(base, 'subpaths', 'v', 'main', '0') };
    }

    const bind = ({ volume, target }: Place, subPath: string): Promise<undefined> =>
      firstValueFrom(mounts.bindInside({ volume, subPath, target }));

    it('folders of a part that are missing are made with the mode of the volume, and the last one is bound', async () => {
      const here = place();
      await bind(here, 'of/pod/x');
      expect(['of', 'of/pod', 'of/pod/x'].map((path) => mode(join(here.volume, path)))).toEqual(['777', '777', '777']);
      expect(mode(join(here.base, 'subpaths'))).toBe('750');
      expect(mountsIn(here.base)).toEqual([here.target]);
      writeFileSync(join(here.target, 'seen'), 'from both sides');
      expect(readFileSync(join(here.volume, 'of/pod/x/seen'), 'utf8')).toBe('from both sides');
    });

    it('the places of parts are folders of the mode 0750 and files of the mode 0640', async () => {
      const here = place();
      writeFileSync(join(here.volume, 'file'), 'content');
      await bind(here, 'file');
      await firstValueFrom(mounts.unmount(here.target));
      expect(['subpaths', 'subpaths/v', 'subpaths/v/main'].map((path) => mode(join(here.base, path)))).toEqual([
        '750',
        '750',
        '750',
      ]);
      expect(mode(here.target)).toBe('640');
      await bind(here, 'folder');
      await firstValueFrom(mounts.unmount(here.target));
      expect(mode(here.target)).toBe('750');
    });

    it('a part may be a single file', async () => {
      const here = place();
      writeFileSync(join(here.volume, 'file'), 'content');
      await bind(here, 'file');
      expect(readFileSync(here.target, 'utf8')).toBe('content');
    });

    it('links that stay inside of the volume are followed to what they lead to now', async () => {
      const here = place();
      mkdirSync(join(here.volume, '..stamp'));
      writeFileSync(join(here.volume, '..stamp', 'labels'), 'a="b"');
      symlinkSync('..stamp', join(here.volume, '..data'));
      symlinkSync('..data/labels', join(here.volume, 'labels'));
      await bind(here, 'labels');
      expect(readFileSync(here.target, 'utf8')).toBe('a="b"');
    });

    it('a part of a volume of files keeps the text that it was bound with when the files are replaced', async () => {
      const here = place();
      const write = (text: string): Promise<boolean> =>
        writePayload(here.volume, new Map([['labels', { content: text, mode: 0o644 }]]), () => Promise.resolve());
      await write('old');
      await bind(here, 'labels');
      await write('new');
      expect(readFileSync(join(here.volume, 'labels'), 'utf8')).toBe('new');
      expect(readFileSync(here.target, 'utf8')).toBe('old');
    });

    it('a part that is bound already is not bound again, as after a restart of the container', async () => {
      const here = place();
      await bind(here, 'x');
      await bind(here, 'x');
      expect(mountsIn(here.base)).toEqual([here.target]);
    });

    it('what else is bound at the place of a part is replaced, a folder by a file too', async () => {
      const here = place();
      await bind(here, 'x');
      writeFileSync(join(here.volume, 'file'), 'content');
      await bind(here, 'file');
      expect(mountsIn(here.base)).toEqual([here.target]);
      expect(readFileSync(here.target, 'utf8')).toBe('content');
    });

    it.each<[string, (here: Place) => void, string]>([
      [
        'an absolute link',
        ({ base, volume }) => {
          symlinkSync(join(base, 'secret'), join(volume, 'out'));
        },
        'out',
      ],
      [
        'a relative link',
        ({ volume }) => {
          symlinkSync('../secret', join(volume, 'out'));
        },
        'out/key',
      ],
      [
        'a link to a link',
        ({ volume }) => {
          symlinkSync('../secret', join(volume, 'far'));
          symlinkSync('far', join(volume, 'out'));
        },
        'out',
      ],
      [
        'a link to the root of the node',
        ({ volume }) => {
          symlinkSync('/', join(volume, 'out'));
        },
        'out/etc/passwd',
      ],
    ])('a part is refused behind %s that leads out of the volume', async (_what, prepare, subPath) => {
      const here = place();
      prepare(here);
      await expect(bind(here, subPath)).rejects.toBeInstanceOf(SubPathError);
      expect(mountsIn(here.base)).toEqual([]);
    });

    it('no folder of a part is made outside of the volume, also not behind a link', async () => {
      const here = place();
      symlinkSync('../secret', join(here.volume, 'out'));
      symlinkSync('../not-there', join(here.volume, 'dangling'));
      await expect(bind(here, 'out/made')).rejects.toMatchObject({ step: 'make' });
      await expect(bind(here, 'dangling')).rejects.toMatchObject({ step: 'make' });
      await expect(bind(here, 'dangling/made')).rejects.toMatchObject({ step: 'make' });
      expect(existsSync(join(here.base, 'secret', 'made'))).toBe(false);
      expect(existsSync(join(here.base, 'not-there'))).toBe(false);
    });
  });
});
