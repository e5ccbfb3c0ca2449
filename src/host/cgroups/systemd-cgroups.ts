import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defer, map, type Observable } from 'rxjs';
import type { CgroupLimits, Cgroups } from '../../streams/ports/cgroups.ts';
import { CGROUP_ROOT, foundOnce, treesOf, type Hierarchies } from './hierarchies.ts';
import { weightOf } from './limit-files.ts';
import { systemError } from '../files/system-error.ts';
import { isBusy } from './empty-cgroup.ts';
import { childrenOf } from './node-cgroups.ts';

/**
 * The cgroups of a machine on which systemd owns them (driver `systemd`): slices that live until the next boot, made
 * and ended by `systemctl`. To write to their files behind its back would be undone at its next reload.
 */
export function systemdCgroups(root: string = CGROUP_ROOT, systemctl = 'systemctl'): Cgroups {
  const found = foundOnce(root);

  async function run(...args: readonly string[]): Promise<void> {
    await promisify(execFile)(systemctl, [...args], { timeout: 30_000 });
  }

  return {
    apply: (path, limits) =>
      defer(async () => {
        const slice = nameOf(path);
        const wasThere = await isThere(path, found());
        await run('set-property', '--runtime', slice, ...propertiesOf(limits));
        await run('start', slice);
        return wasThere ? 'set' : 'made';
      }),
    remove: (path, how) =>
      done(async () => {
        if (how === 'ifEmpty' && (await isBusy(path, found()))) throw systemError('EBUSY', 'a process is left', path);
        const slice = nameOf(path);
        await run('stop', slice);
        await run('revert', slice);
      }),
    children: (path) => defer(async () => childrenOf(path, found())),
  };
}

/** The properties of a slice; systemd has none for huge pages. */
function propertiesOf({ cpuShares, cpuQuota, cpuPeriod, memory, pids }: CgroupLimits): readonly string[] {
  const share = cpuQuota === undefined || cpuPeriod === undefined ? undefined : (100 * cpuQuota) / cpuPeriod;
  return [
    ...(cpuShares === undefined ? ['CPUAccounting=yes'] : [`CPUWeight=${weightOf(cpuShares)}`]),
    ...(share === undefined ? [] : [`CPUQuota=${share < 0 ? '' : `${Math.ceil(share)}%`}`]),
    ...(cpuPeriod === undefined ? [] : [`CPUQuotaPeriodSec=${cpuPeriod}us`]),
    ...(memory === undefined ? ['MemoryAccounting=yes'] : [`MemoryMax=${memory}`]),
    ...(pids === undefined ? ['TasksAccounting=yes'] : [`TasksMax=${pids}`]),
  ];
}

async function isThere(path: string, found: Hierarchies): Promise<boolean> {
  for (const tree of treesOf(found)) {
    try {
      await access(join(tree, path));
      return true;
    } catch {
      // another hierarchy may have it
    }
  }
  return false;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function done(act: () => Promise<void>): Observable<undefined> {
  return defer(act).pipe(map(() => undefined));
}
