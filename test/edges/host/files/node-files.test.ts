import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeFiles } from '../../../../src/host/files/node-files.ts';
import { parseMountPoints } from '../../../../src/host/files/mount-points.ts';
import { CGROUP_ROOT } from '../../../../src/host/cgroups/hierarchies.ts';
import { hierarchies } from '../../../../src/host/cgroups/hierarchies.ts';
import { removeCgroup } from '../../../../src/host/cgroups/remove-cgroup.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'rxlet files ')); // the blank is meant
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const at = (...names: readonly string[]): string => join(dir, ...names);
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
const isRoot = process.getuid?.() === 0;
const canMount = isRoot && trySystem('unshare', '-m', 'true');

function system(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}

function trySystem(command: string, ...args: readonly string[]): boolean {
  try {
    system(command, ...args);
    return true;
  } catch {
    return false;
  }
}

describe.each([
  ['by threads', nodeFiles()],
  ['what is at hand', nodeFiles(() => true)],
])('nodeFiles, %s', (_how, files) => {
  it('does nothing before somebody subscribes', async () => {
    const making$ = files.makeDir(at('a'), 0o755);
    expect(existsSync(at('a'))).toBe(false);
    await firstValueFrom(making$);
    expect(existsSync(at('a'))).toBe(true);
  });

  describe('makeDir', () => {
    it('makes a directory and its parents, with exactly its mode', async () => {
      await firstValueFrom(files.makeDir(at('a', 'b', 'c'), 0o777));
      expect(modeOf(at('a', 'b', 'c'))).toBe('777');
      expect(readdirSync(at('a', 'b'))).toEqual(['c']);
    });

    it('leaves a directory that is there as it is', async () => {
      mkdirSync(at('a'));
      chmodSync(at('a'), 0o711);
      writeFileSync(at('a', 'kept'), '');
      await firstValueFrom(files.makeDir(at('a'), 0o755));
      expect(modeOf(at('a'))).toBe('711');
      expect(readdirSync(at('a'))).toEqual(['kept']);
    });

    it('may be asked for the same directory many times at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => firstValueFrom(files.makeDir(at('x', 'y'), 0o750))));
      expect(modeOf(at('x', 'y'))).toBe('750');
      expect(readdirSync(at('x'))).toEqual(['y']);
    });

    it('fails where a file is in its place', async () => {
      writeFileSync(at('a'), '');
      await expect(firstValueFrom(files.makeDir(at('a'), 0o755))).rejects.toMatchObject({ code: 'ENOTDIR' });
    });
  });

  describe('writeFile', () => {
    it('writes a text with exactly its mode, and leaves nothing else behind', async () => {
      await firstValueFrom(files.writeFile(at('f'), 'grüß dich', { mode: 0o666 }));
      expect(readFileSync(at('f'), 'utf8')).toBe('grüß dich');
      expect(modeOf(at('f'))).toBe('666');
      expect(readdirSync(dir)).toEqual(['f']);
    });

    it('puts a new file in the place of the old one', async () => {
      writeFileSync(at('f'), 'a longer text');
      const before = statSync(at('f')).ino;
      await firstValueFrom(files.writeFile(at('f'), 'short', { mode: 0o644 }));
      expect(readFileSync(at('f'), 'utf8')).toBe('short');
      expect(statSync(at('f')).ino).not.toBe(before);
    });

    it('keeps the inode when it is to write in place', async () => {
      writeFileSync(at('f'), 'a longer text');
      const before = statSync(at('f')).ino;
      await firstValueFrom(files.writeFile(at('f'), 'short', { mode: 0o640, inPlace: true }));
      expect(readFileSync(at('f'), 'utf8')).toBe('short');
      expect(statSync(at('f')).ino).toBe(before);
      expect(modeOf(at('f'))).toBe('640');
      await firstValueFrom(files.writeFile(at('new'), 'x', { mode: 0o640, inPlace: true }));
      expect(readFileSync(at('new'), 'utf8')).toBe('x');
    });

    it('brings a file in place to its text and its mode, whatever it holds', async () => {
      const options = { mode: 0o644, inPlace: true };
      await firstValueFrom(files.writeFile(at('f'), 'grüß', options));
      for (const [text, mode] of [
        ['grüß', 0o600],
        ['gruss!', 0o644],
        ['gruß', 0o644],
      ] as const) {
        writeFileSync(at('f'), text);
        chmodSync(at('f'), mode);
        await firstValueFrom(files.writeFile(at('f'), 'grüß', options));
        expect(readFileSync(at('f'), 'utf8')).toBe('grüß');
        expect(modeOf(at('f'))).toBe('644');
      }
      await firstValueFrom(files.writeFile(at('f'), 'grüß', options));
      expect(readFileSync(at('f'), 'utf8')).toBe('grüß');
    });

    it('makes an empty file with exactly its mode, and one in the place of another', async () => {
      await firstValueFrom(files.writeFile(at('f'), '', { mode: 0o666 }));
      expect(modeOf(at('f'))).toBe('666');
      writeFileSync(at('f'), 'text');
      await firstValueFrom(files.writeFile(at('f'), '', { mode: 0o640 }));
      expect(readFileSync(at('f'), 'utf8')).toBe('');
      expect(modeOf(at('f'))).toBe('640');
      expect(readdirSync(dir)).toEqual(['f']);
    });

    it('never shows a part to a reader', async () => {
      const texts = ['a'.repeat(100_000), 'b'.repeat(50_000)];
      await firstValueFrom(files.writeFile(at('f'), texts[0] ?? '', { mode: 0o644 }));
      for (let round = 0; round < 20; round += 1) {
        const writing = firstValueFrom(files.writeFile(at('f'), texts[round % 2] ?? '', { mode: 0o644 }));
        const read = await firstValueFrom(files.readFile(at('f')));
        expect(texts).toContain(read);
        await writing;
      }
    });

    it('fails where the directory is missing, and where one is in its place', async () => {
      await expect(firstValueFrom(files.writeFile(at('no', 'f'), '', { mode: 0o644 }))).rejects.toMatchObject({
        code: 'ENOENT',
      });
      mkdirSync(at('d'));
      await expect(firstValueFrom(files.writeFile(at('d'), '', { mode: 0o644 }))).rejects.toMatchObject({
        code: 'EISDIR',
      });
      expect(readdirSync(dir)).toEqual(['d']);
    });
  });

  describe('readFile', () => {
    it('reads a text, and tells a missing file by undefined', async () => {
      writeFileSync(at('f'), 'text');
      expect(await firstValueFrom(files.readFile(at('f')))).toBe('text');
      expect(await firstValueFrom(files.readFile(at('g')))).toBeUndefined();
      expect(await firstValueFrom(files.readFile(at('f', 'g')))).toBeUndefined();
    });

    it.each([
      ['0123456789', 4, '6789'],
      ['0123', 4, '0123'],
      ['', 4, ''],
      ['xxé', 2, 'é'],
      ['xxéy', 2, 'y'],
      ['x🎈y', 4, 'y'],
    ])('of %j keeps of the last bytes (%d) what are whole characters: %j', async (text, tailBytes, tail) => {
      writeFileSync(at('f'), text);
      expect(await firstValueFrom(files.readFile(at('f'), { tailBytes }))).toBe(tail);
    });

    it('reads the files of /proc, which say that they are empty', async () => {
      expect(await firstValueFrom(files.readFile('/proc/self/mountinfo', { tailBytes: 4_096 }))).toContain('/proc');
    });

    it('fails on a directory, and on a pipe instead of waiting for a writer', async () => {
      await expect(firstValueFrom(files.readFile(dir))).rejects.toMatchObject({ code: 'EISDIR' });
      system('mkfifo', at('pipe'));
      await expect(firstValueFrom(files.readFile(at('pipe')))).rejects.toMatchObject({ code: 'EINVAL' });
    });
  });

  it('lists names in order, and nothing of a missing directory', async () => {
    for (const name of ['b', 'a', 'C']) writeFileSync(at(name), '');
    expect(await firstValueFrom(files.list(dir))).toEqual(['C', 'a', 'b']);
    expect(await firstValueFrom(files.list(at('no')))).toEqual([]);
    await expect(firstValueFrom(files.list(at('a')))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('tells what stands at a path', async () => {
    writeFileSync(at('file'), '');
    mkdirSync(at('directory'));
    symlinkSync(at('file'), at('link'));
    symlinkSync(at('nowhere'), at('dangling'));
    system('mkfifo', at('pipe'));
    const server = createServer().listen(at('socket'));
    try {
      const typeOf = (path: string) => firstValueFrom(files.typeOf(path));
      expect(await typeOf(at('file'))).toBe('file');
      expect(await typeOf(at('directory'))).toBe('directory');
      expect(await typeOf(at('link'))).toBe('file');
      expect(await typeOf(at('dangling'))).toBe('missing');
      expect(await typeOf(at('file', 'below'))).toBe('missing');
      expect(await typeOf(at('pipe'))).toBe('other');
      expect(await typeOf(at('socket'))).toBe('socket');
      expect(await typeOf('/dev/null')).toBe('charDevice');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  describe('link', () => {
    it('makes a link, and replaces an older one', async () => {
      await firstValueFrom(files.link('/one', at('l')));
      expect(readlinkSync(at('l'))).toBe('/one');
      await firstValueFrom(files.link('/two', at('l')));
      expect(readlinkSync(at('l'))).toBe('/two');
      expect(readdirSync(dir)).toEqual(['l']);
    });

    it('does not replace anything else', async () => {
      writeFileSync(at('f'), 'kept');
      await expect(firstValueFrom(files.link('/one', at('f')))).rejects.toMatchObject({ code: 'EEXIST' });
      expect(readFileSync(at('f'), 'utf8')).toBe('kept');
    });

    it('can be read, where it is one', async () => {
      symlinkSync('/one', at('l'));
      writeFileSync(at('f'), '');
      expect(await firstValueFrom(files.readLink(at('l')))).toBe('/one');
      expect(await firstValueFrom(files.readLink(at('f')))).toBeUndefined();
      expect(await firstValueFrom(files.readLink(at('no')))).toBeUndefined();
    });
  });

  it('removes a file or a link, and is content when there is none', async () => {
    writeFileSync(at('f'), '');
    symlinkSync(at('f'), at('l'));
    await firstValueFrom(files.removeFile(at('l')));
    expect(readdirSync(dir)).toEqual(['f']);
    await firstValueFrom(files.removeFile(at('f')));
    await firstValueFrom(files.removeFile(at('f')));
    expect(readdirSync(dir)).toEqual([]);
  });

  describe('removeTree', () => {
    it('removes all of it, and of links only the links', async () => {
      mkdirSync(at('kept'));
      writeFileSync(at('kept', 'f'), '');
      mkdirSync(at('t', 'a', 'b'), { recursive: true });
      for (const path of [at('t', 'f'), at('t', 'a', 'f'), at('t', 'a', 'b', 'f')]) writeFileSync(path, '');
      symlinkSync(at('kept'), at('t', 'a', 'link'));
      await firstValueFrom(files.removeTree(at('t')));
      expect(readdirSync(dir)).toEqual(['kept']);
      expect(readdirSync(at('kept'))).toEqual(['f']);
    });

    it('takes a file or a link for a small tree, and nothing for none', async () => {
      writeFileSync(at('f'), '');
      symlinkSync(dir, at('l'));
      for (const name of ['f', 'l', 'no']) await firstValueFrom(files.removeTree(at(name)));
      expect(readdirSync(dir)).toEqual([]);
    });

    it.skipIf(!canMount).each([
      ['a bind mount of the same file system', (point: string) => ['--bind', at('volume'), point]],
      ['another file system', (point: string) => ['-t', 'tmpfs', 'none', point]],
    ])('leaves everything when it finds %s in it', async (_what, mountArgs) => {
      mkdirSync(at('volume'));
      writeFileSync(at('volume', 'precious'), '');
      mkdirSync(at('t', 'a', 'mounted'), { recursive: true });
      writeFileSync(at('t', 'f'), '');
      system('mount', ...mountArgs(at('t', 'a', 'mounted')));
      try {
        for (const path of [at('t'), at('t', 'a', 'mounted')]) {
          await expect(firstValueFrom(files.removeTree(path))).rejects.toMatchObject({ code: 'EBUSY' });
        }
        expect(readdirSync(at('t'))).toEqual(['a', 'f']);
        expect(readdirSync(at('volume'))).toEqual(['precious']);
      } finally {
        system('umount', at('t', 'a', 'mounted'));
      }
      await firstValueFrom(files.removeTree(at('t')));
      expect(readdirSync(dir)).toEqual(['volume']);
    });
  });

  describe('removeCgroup', () => {
    it('removes a group of version 2 with all that is below it', async () => {
      writeFileSync(at('cgroup.controllers'), 'cpu');
      mkdirSync(at('kubepods', 'burstable', 'podx', 'c1', 'deep'), { recursive: true });
      mkdirSync(at('kubepods', 'burstable', 'pody'));
      await removeCgroup('/kubepods/burstable/podx', hierarchies(dir));
      expect(readdirSync(at('kubepods', 'burstable'))).toEqual(['pody']);
      await removeCgroup('/kubepods/burstable/podx', hierarchies(dir));
    });

    it('removes a group of version 1 from every hierarchy that has it', async () => {
      for (const hierarchy of ['cpu,cpuacct', 'memory'])
        mkdirSync(at(hierarchy, 'kubepods', 'podx', 'c'), { recursive: true });
      mkdirSync(at('pids'));
      symlinkSync('cpu,cpuacct', at('cpu'));
      await removeCgroup('/kubepods/podx', hierarchies(dir));
      expect(readdirSync(at('cpu,cpuacct', 'kubepods'))).toEqual([]);
      expect(readdirSync(at('memory', 'kubepods'))).toEqual([]);
    });

    it('removes a group of a machine with both versions from the folder of version 2, too', async () => {
      for (const hierarchy of ['memory', 'unified']) mkdirSync(at(hierarchy, 'kubepods', 'podx'), { recursive: true });
      writeFileSync(at('unified', 'cgroup.controllers'), '');
      await removeCgroup('/kubepods/podx', hierarchies(dir));
      expect(readdirSync(at('memory', 'kubepods'))).toEqual([]);
      expect(readdirSync(at('unified', 'kubepods'))).toEqual([]);
    });

    it.each(['/', '', '.', '/kubepods/..', '../etc'])('does not take %j for a group', async (path) => {
      mkdirSync(at('memory', 'kubepods'), { recursive: true });
      await expect(removeCgroup(path, hierarchies(dir))).rejects.toMatchObject({ code: 'EINVAL' });
      expect(readdirSync(at('memory'))).toEqual(['kubepods']);
    });

    it.skipIf(!isRoot || !cgroupsAreWritable())('removes real groups, but none with a process in it', async () => {
      const name = `rxlet-test-${String(process.pid)}`;
      const groups = realHierarchies().map((hierarchy) => join(hierarchy, name, 'inner'));
      const [first = ''] = groups;
      for (const group of groups) mkdirSync(group, { recursive: true });
      expect(groups.length).toBeGreaterThan(0);

      const sleeper = execFileSync('sh', ['-c', 'sleep 600 >/dev/null 2>&1 & echo $!'], { encoding: 'utf8' }).trim();
      try {
        writeFileSync(join(first, 'cgroup.procs'), sleeper);
        await expect(firstValueFrom(files.removeCgroup(`/${name}`))).rejects.toMatchObject({ code: 'EBUSY' });
      } finally {
        process.kill(Number(sleeper), 'SIGKILL');
      }
      await expect
        .poll(() => firstValueFrom(files.removeCgroup(`/${name}`)).then(() => 'removed', String), { timeout: 60_000 })
        .toBe('removed');
      for (const group of groups) expect(existsSync(group)).toBe(false);
    });
  });

  it('does not touch a file at hand that holds what is to be written in place', async () => {
    const files = nodeFiles((path) => path === at('f'));
    for (const name of ['f', 'g']) {
      await firstValueFrom(files.writeFile(at(name), 'text', { mode: 0o644, inPlace: true }));
      utimesSync(at(name), 1, 1);
      await firstValueFrom(files.writeFile(at(name), 'text', { mode: 0o644, inPlace: true }));
    }
    expect(statSync(at('f')).mtimeMs).toBe(1_000);
    expect(statSync(at('g')).mtimeMs).toBeGreaterThan(1_000);
  });

  it('reads mount points with blanks in their names', () => {
    expect(
      parseMountPoints('22 27 0:21 / /mnt/a\\040b\\011c rw - proc proc rw\n23 27 0:21 / /proc rw - proc proc rw\n'),
    ).toEqual(['/mnt/a b\tc', '/proc']);
  });
});

function realHierarchies(): readonly string[] {
  if (existsSync(join(CGROUP_ROOT, 'cgroup.controllers'))) return [CGROUP_ROOT];
  return ['memory', 'pids'].map((name) => join(CGROUP_ROOT, name)).filter((path) => existsSync(path));
}

function cgroupsAreWritable(): boolean {
  return realHierarchies().some((hierarchy) => {
    const probe = join(hierarchy, `rxlet-probe-${String(process.pid)}`);
    try {
      mkdirSync(probe);
      system('rmdir', probe);
      return true;
    } catch {
      return false;
    }
  });
}
