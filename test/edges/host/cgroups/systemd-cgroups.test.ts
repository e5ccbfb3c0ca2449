import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemdCgroups } from '../../../../src/host/cgroups/systemd-cgroups.ts';
import { podCgroup } from '../../../../src/model/cgroup.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { Cgroups } from '../../../../src/streams/ports/cgroups.ts';

const SLICE = 'kubepods-burstable-pod12_ab.slice';
const PATH = podCgroup('/', 'systemd', 'Burstable', '12-ab' as PodUid);

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'systemd-cgroups-'));
  writeFileSync(join(root, 'cgroup.controllers'), 'cpu memory pids\n');
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** A `systemctl` that writes down what it is told, one call a line. */
function cgroups(exitCode = 0): Cgroups {
  const systemctl = join(root, 'systemctl');
  writeFileSync(systemctl, `#!/bin/sh\necho "$*" >> '${root}/calls'\necho failed >&2\nexit ${exitCode}\n`);
  chmodSync(systemctl, 0o755);
  return systemdCgroups(root, systemctl);
}

function calls(): readonly string[] {
  const file = join(root, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

describe('systemdCgroups', () => {
  it('sets the limits of a slice, named by the last part of its path, before it is started', async () => {
    const limits = { cpuShares: 1_024, cpuQuota: 25_500, cpuPeriod: 100_000, memory: 64, pids: 10 };
    expect(await firstValueFrom(cgroups().apply(PATH, limits))).toBe('made');
    expect(calls()).toEqual([
      `set-property --runtime ${SLICE} CPUWeight=39 CPUQuota=26% CPUQuotaPeriodSec=100000us MemoryMax=64 TasksMax=10`,
      `start ${SLICE}`,
    ]);
  });

  it('takes a quota away, and turns counting on where there is no limit, so that the files are there', async () => {
    mkdirSync(join(root, PATH), { recursive: true });
    expect(await firstValueFrom(cgroups().apply(PATH, { cpuQuota: -1, cpuPeriod: 100_000 }))).toBe('set');
    expect(calls()[0]).toBe(
      `set-property --runtime ${SLICE} CPUAccounting=yes CPUQuota= CPUQuotaPeriodSec=100000us MemoryAccounting=yes TasksAccounting=yes`,
    );
  });

  it('stops a slice, which ends what is in it, and forgets its limits', async () => {
    await firstValueFrom(cgroups().remove(PATH, 'kill'));
    expect(calls()).toEqual([`stop ${SLICE}`, `revert ${SLICE}`]);
  });

  it('leaves a slice alone that is to be removed only when it is empty, and is not', async () => {
    mkdirSync(join(root, PATH, 'cri-containerd-1.scope'), { recursive: true });
    for (const folder of [PATH, `${PATH}/cri-containerd-1.scope`])
      writeFileSync(join(root, folder, 'cgroup.procs'), folder === PATH ? '' : '70000\n');
    await expect(firstValueFrom(cgroups().remove(PATH, 'ifEmpty'))).rejects.toMatchObject({ code: 'EBUSY' });
    expect(calls()).toEqual([]);
  });

  it('tells what systemd said when it refuses', async () => {
    await expect(firstValueFrom(cgroups(1).apply(PATH, {}))).rejects.toThrow('failed');
  });

  it('finds the slices below one in the tree of cgroups', async () => {
    mkdirSync(join(root, PATH), { recursive: true });
    const above = PATH.slice(0, PATH.lastIndexOf('/'));
    expect(await firstValueFrom(cgroups().children(above))).toEqual([SLICE]);
  });
});
