import { describe, expect, it } from 'vitest';
import { memoryDisk } from '../../../src/simulation/memory-disk.ts';

function codeOf(act: () => unknown): unknown {
  try {
    act();
    return 'ok';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

describe('memoryDisk', () => {
  it('keeps what is written, below directories that are there', () => {
    const disk = memoryDisk();
    expect(
      codeOf(() => {
        disk.writeFile('/a/f', 'text', 0o644, false);
      }),
    ).toBe('ENOENT');
    disk.makeDir('/a/b', 0o777);
    disk.writeFile('/a/f', 'text', 0o644, false);
    expect(disk.readFile('/a/f')).toBe('text');
    expect(disk.readFile('/a/f', 2)).toBe('xt');
    expect(disk.readFile('/a/g')).toBeUndefined();
    expect(disk.nodes.get('/a/b')).toEqual({ type: 'directory', mode: 0o777 });
    expect(disk.list('/a')).toEqual(['b', 'f']);
    expect(disk.list('/')).toEqual(['a']);
    expect(disk.list('/none')).toEqual([]);
  });

  it('fails as the operating system does when something else is in the way', () => {
    const disk = memoryDisk();
    disk.put('/a/f', { type: 'file', mode: 0o644, content: '' });
    expect(
      codeOf(() => {
        disk.makeDir('/a/f', 0o755);
      }),
    ).toBe('ENOTDIR');
    expect(
      codeOf(() => {
        disk.makeDir('/a/f/b', 0o755);
      }),
    ).toBe('ENOTDIR');
    expect(
      codeOf(() => {
        disk.writeFile('/a', '', 0o644, false);
      }),
    ).toBe('EISDIR');
    expect(
      codeOf(() => {
        disk.writeFile('/a/f/g', '', 0o644, false);
      }),
    ).toBe('ENOTDIR');
    expect(codeOf(() => disk.readFile('/a'))).toBe('EISDIR');
    expect(codeOf(() => disk.list('/a/f'))).toBe('ENOTDIR');
    expect(
      codeOf(() => {
        disk.link('/x', '/a/f');
      }),
    ).toBe('EEXIST');
    expect(
      codeOf(() => {
        disk.removeFile('/a');
      }),
    ).toBe('EISDIR');
  });

  it('leaves the mode of a directory that is there', () => {
    const disk = memoryDisk();
    disk.makeDir('/a', 0o700);
    disk.makeDir('/a', 0o755);
    expect(disk.nodes.get('/a')).toEqual({ type: 'directory', mode: 0o700 });
  });

  it('follows links, wherever they lead, but replaces and removes the links themselves', () => {
    const disk = memoryDisk();
    disk.put('/real/f', { type: 'file', mode: 0o644, content: 'text' });
    disk.link('/real', '/absolute');
    disk.link('../real/f', '/real/relative');
    disk.link('/loop', '/loop');
    expect(disk.readFile('/absolute/f')).toBe('text');
    expect(disk.readFile('/absolute/relative')).toBe('text');
    expect(disk.typeOf('/absolute')).toBe('directory');
    expect(codeOf(() => disk.typeOf('/loop'))).toBe('ELOOP');
    expect(disk.readLink('/absolute')).toBe('/real');
    expect(disk.readLink('/real')).toBeUndefined();

    disk.link('/nowhere', '/absolute');
    expect(disk.typeOf('/absolute')).toBe('missing');
    disk.writeFile('/absolute', 'a file now', 0o644, false);
    expect(disk.typeOf('/absolute')).toBe('file');
    disk.removeFile('/real/relative');
    disk.removeFile('/real/relative');
    expect(disk.list('/real')).toEqual(['f']);
  });

  it('removes trees, but none with a mount in it', () => {
    const disk = memoryDisk();
    disk.put('/t/a/b/f', { type: 'file', mode: 0o644, content: '' });
    disk.put('/tt', { type: 'directory', mode: 0o755 });
    disk.mounts.add('/t/a/b');
    expect(
      codeOf(() => {
        disk.removeTree('/t');
      }),
    ).toBe('EBUSY');
    expect(disk.typeOf('/t/a/b/f')).toBe('file');
    disk.mounts.clear();
    disk.removeTree('/t');
    disk.removeTree('/t');
    expect(disk.list('/')).toEqual(['tt']);
  });

  it('that is full takes nothing new, gives back what it has, and lets it be removed', () => {
    const disk = memoryDisk();
    disk.put('/d/f', { type: 'file', mode: 0o644, content: 'kept' });
    disk.setState('full');
    const writes = [
      () => {
        disk.writeFile('/d/f', 'new', 0o644, false);
      },
      () => {
        disk.makeDir('/e', 0o755);
      },
      () => {
        disk.link('/d/f', '/d/l');
      },
    ];
    expect(writes.map(codeOf)).toEqual(['ENOSPC', 'ENOSPC', 'ENOSPC']);
    disk.makeDir('/d', 0o755);
    expect(disk.readFile('/d/f')).toBe('kept');
    disk.removeFile('/d/f');
    expect(disk.list('/d')).toEqual([]);
  });

  it('that is read-only changes in no way until it can be written to again', () => {
    const disk = memoryDisk();
    disk.put('/d/f', { type: 'file', mode: 0o644, content: 'kept' });
    disk.setState('readOnly');
    const changes = [
      () => {
        disk.writeFile('/d/f', 'new', 0o644, true);
      },
      () => {
        disk.removeFile('/d/f');
      },
      () => {
        disk.removeTree('/d');
      },
    ];
    expect(changes.map(codeOf)).toEqual(['EROFS', 'EROFS', 'EROFS']);
    disk.removeFile('/d/missing');
    expect(disk.readFile('/d/f')).toBe('kept');
    disk.setState('ok');
    disk.removeTree('/d');
    expect(disk.list('/')).toEqual([]);
  });
});
