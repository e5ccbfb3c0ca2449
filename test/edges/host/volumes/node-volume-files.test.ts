import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { diskUsage } from '../../../../src/host/volumes/disk-usage.ts';
import { nodeVolumeFiles } from '../../../../src/host/volumes/node-volume-files.ts';
import { canMount, mountGround } from '../../mount-ground.ts';

const volumeFiles = nodeVolumeFiles();
const isRoot = process.getuid?.() === 0;

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-volume-'));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

const look = (path: string): string => {
  const { gid, mode } = lstatSync(path);
  return `${(mode & 0o7777).toString(8)} ${gid}`;
};

describe.skipIf(!isRoot)('giveToGroup', () => {
  function tree(): string {
    const dir = folder();
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, 'd'));
    chmodSync(join(dir, 'd'), 0o700);
    writeFileSync(join(dir, 'd', 'f'), '');
    chmodSync(join(dir, 'd', 'f'), 0o600);
    return dir;
  }

  it('fsGroup gets 0660 of files and 2770 of folders added to what they have', async () => {
    const dir = tree();
    await firstValueFrom(volumeFiles.giveToGroup(dir, { group: 7778, readOnly: false, onlyOnMismatch: false }));
    expect([look(dir), look(join(dir, 'd')), look(join(dir, 'd', 'f'))]).toEqual([
      '2775 7778',
      '2770 7778',
      '660 7778',
    ]);
  });

  it('fsGroup may only read what is read-only: 0440 of files and 2550 of folders are added', async () => {
    const dir = tree();
    await firstValueFrom(volumeFiles.giveToGroup(dir, { group: 7778, readOnly: true, onlyOnMismatch: false }));
    expect([look(join(dir, 'd')), look(join(dir, 'd', 'f'))]).toEqual(['2750 7778', '640 7778']);
  });

  it('fsGroup gets a link, and not what it leads to', async () => {
    const dir = tree();
    const outside = join(folder(), 'outside');
    writeFileSync(outside, '');
    chmodSync(outside, 0o600);
    symlinkSync(outside, join(dir, 'link'));
    await firstValueFrom(volumeFiles.giveToGroup(dir, { group: 7778, readOnly: false, onlyOnMismatch: false }));
    expect(look(join(dir, 'link'))).toMatch(/ 7778$/);
    expect(look(outside)).toBe('600 0');
  });

  it('OnRootMismatch leaves everything where the root of the volume has the group and its bits already', async () => {
    const dir = tree();
    const ownership = { group: 7778, readOnly: false, onlyOnMismatch: true };
    await firstValueFrom(volumeFiles.giveToGroup(dir, ownership));
    writeFileSync(join(dir, 'later'), '');
    chmodSync(join(dir, 'later'), 0o600);
    await firstValueFrom(volumeFiles.giveToGroup(dir, ownership));
    expect(look(join(dir, 'later'))).toMatch(/^600 /);
    await firstValueFrom(volumeFiles.giveToGroup(dir, { ...ownership, onlyOnMismatch: false }));
    expect(look(join(dir, 'later'))).toBe('660 7778');
  });
});

describe('writePayload with a group', () => {
  it.skipIf(!isRoot)('files of the agent have the fsGroup before they are in sight', async () => {
    const dir = folder();
    const payload = new Map([['a', { content: '1', mode: 0o400 }]]);
    const ownership = { group: 5151, readOnly: true, onlyOnMismatch: false };
    expect(await firstValueFrom(volumeFiles.writePayload(dir, payload, ownership))).toBe(true);
    const { gid, mode } = statSync(join(dir, 'a'));
    expect([gid, (mode & 0o7777).toString(8)]).toEqual([5151, '440']);
    expect(await firstValueFrom(volumeFiles.writePayload(dir, payload, ownership))).toBe(false);
  });
});

describe('usage', () => {
  it('counts what the files take, a file with two names once', async () => {
    const dir = folder();
    const before = await firstValueFrom(volumeFiles.usage(dir));
    writeFileSync(join(dir, 'big'), Buffer.alloc(1024 ** 2, 1));
    linkSync(join(dir, 'big'), join(dir, 'twin'));
    const used = (await firstValueFrom(volumeFiles.usage(dir))) - before;
    expect(used).toBeGreaterThanOrEqual(1024 ** 2);
    expect(used).toBeLessThan(1.5 * 1024 ** 2);
  });

  it.skipIf(!canMount)('counts nothing of what is mounted inside', async () => {
    const base = mountGround();
    mkdirSync(join(base, 'v', 'm'), { recursive: true });
    const before = await firstValueFrom(volumeFiles.usage(join(base, 'v')));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(base, 'v', 'm')]);
    writeFileSync(join(base, 'v', 'm', 'big'), Buffer.alloc(1024 ** 2, 1));
    expect(await firstValueFrom(volumeFiles.usage(join(base, 'v')))).toBeLessThanOrEqual(before);
  });

  it('stops counting when nobody listens any more', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'f'), '');
    const abort = new AbortController();
    const counting = diskUsage(dir, abort.signal);
    abort.abort();
    await expect(counting).rejects.toThrow(/abort/i);
  });

  it('is 0 where there is nothing', async () => {
    expect(await firstValueFrom(volumeFiles.usage(join(folder(), 'nothing')))).toBe(0);
  });
});
