import { lstat, mkdir, open, rmdir, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lastValueFrom, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { SubPathError, type InnerBind } from '../../streams/ports/mounts.ts';
import { hasCode } from '../files/system-error.ts';
import { mountsBelow } from './mount-table.ts';
import { makeInside, openInside } from './safe-path.ts';

/** How a mount is made and taken away. */
export interface MountTools {
  readonly bind: (source: string, target: string) => Observable<undefined>;
  readonly unmount: (target: string) => Observable<undefined>;
}

const NOTHING = { defaultValue: undefined };

/** Shows a part of a volume at another place. What is bound is the object that was checked, not its name (facts sheet 15.5). */
export async function bindInside({ volume, subPath, target }: InnerBind, tools: MountTools): Promise<void> {
  await step('make', async () => {
    if (!(await isThere(join(volume, subPath)))) {
      await makeInside(volume, subPath, (await stat(volume)).mode & 0o2777);
    }
  });
  await step('bind', async () => {
    const source = await openInside(volume, subPath);
    try {
      if (await isBound(source, target, tools)) return;
      await makeTarget(target, (await source.stat()).isDirectory());
      // Under our own number: for `mount`, another process, /proc/self would be its own.
      await lastValueFrom(tools.bind(`/proc/${process.pid}/fd/${source.fd}`, target), NOTHING);
    } finally {
      await source.close();
    }
  });
}

async function step(name: 'make' | 'bind', act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw new SubPathError(name, messageOf(error));
  }
}

/** Whether the target shows the source already, as after a restart of the container. Takes away whatever else it shows. */
async function isBound(source: FileHandle, target: string, tools: MountTools): Promise<boolean> {
  const wanted = await source.stat();
  let left = (await mountsBelow(target)).filter((mount) => mount.target === target).length;
  for (; left > 0; left -= 1) {
    const shown = await stat(target);
    if (shown.dev === wanted.dev && shown.ino === wanted.ino) return true;
    await lastValueFrom(tools.unmount(target), NOTHING);
  }
  return false;
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  const found = await lstat(target).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (found?.isDirectory() === isDirectory) return;
  if (found) await (found.isDirectory() ? rmdir(target) : unlink(target));
  if (isDirectory) await mkdir(target, { mode: 0o750 });
  else await (await open(target, 'wx', 0o640)).close();
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
