import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, lastValueFrom, NEVER, of, toArray, type Observable, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Environment } from '../../../../src/host/systemd/notify.ts';
import { systemd, systemdStopping } from '../../../../src/host/systemd/systemd.ts';

const PATIENCE = 60_000;

let folder = '';
let running: Subscription[] = [];

/** An environment whose systemd-notify writes down what it is told, after the given shell commands. */
function environment(before = '', extra: Environment = {}): Environment {
  const bin = mkdtempSync(join(folder, 'bin-'));
  const program = join(bin, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\n${before}\necho "$@" >> ${folder}/said\n`);
  chmodSync(program, 0o755);
  return { PATH: `${bin}:/usr/bin:/bin`, NOTIFY_SOCKET: '/run/systemd/notify', ...extra };
}

function said(): readonly string[] {
  const file = join(folder, 'said');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

function start(
  env: Environment,
  healthy$: Observable<boolean>,
  status$: Observable<string> = NEVER,
): readonly string[] {
  const complaints: string[] = [];
  running.push(
    systemd({ env, pid: 7, healthy$, status$ }).subscribe({
      next: (complaint) => complaints.push(complaint),
      error: (error: unknown) => complaints.push(String(error)),
    }),
  );
  return complaints;
}

async function until(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: PATIENCE, interval: 10 });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-systemd-'));
  running = [];
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  rmSync(folder, { recursive: true, force: true });
});

describe('systemd', () => {
  it('says nothing where systemd does not listen', async () => {
    const env = { ...environment(), NOTIFY_SOCKET: '' };
    const told = systemd({ env, pid: 7, healthy$: of(true), status$: of('hello') });
    expect(await lastValueFrom(told.pipe(toArray()))).toEqual([]);
    expect(said()).toEqual([]);
  });

  it('says that we are ready before anything else, then how things stand', async () => {
    start(environment(), of(true), of('2 pods, runtime ready'));
    await until(() => {
      expect(said()).toEqual(['READY=1', 'STATUS=2 pods, runtime ready']);
    });
  });

  it('gives a sign of life every half of the watchdog time', async () => {
    start(environment('', { WATCHDOG_USEC: '1000002', WATCHDOG_PID: '7' }), of(true));
    await until(() => {
      expect(said().slice(0, 3)).toEqual(['READY=1', 'WATCHDOG=1', 'WATCHDOG=1']);
    });
  });

  it('withholds the sign of life while we are not healthy', async () => {
    const healthy$ = new BehaviorSubject(false);
    const sick = environment('[ "$1" = WATCHDOG=1 ] && set -- SICK', { WATCHDOG_USEC: '1000002' });
    start(sick, healthy$);
    await until(() => {
      expect(said()).toEqual(['READY=1']);
    });
    // The same timers, only healthy: by its third sign the sick one has had two occasions for its own.
    start(environment('', { WATCHDOG_USEC: '1000002' }), of(true));
    await until(() => {
      expect(said().filter((line) => line === 'WATCHDOG=1').length).toBeGreaterThan(2);
    });
    expect(said()).not.toContain('SICK');
  });

  it('tries a message once more', async () => {
    const complaints = start(environment(`test -e ${folder}/tried || { touch ${folder}/tried; exit 1; }`), of(true));
    await until(() => {
      expect(said()).toEqual(['READY=1']);
    });
    expect(complaints).toEqual([]);
  });

  it('tells the log what did not get through, and goes on', async () => {
    const complaints = start(
      environment('case $1 in READY=1) echo no such service >&2; exit 1;; esac'),
      of(true),
      of('on'),
    );
    await until(() => {
      expect(said()).toEqual(['STATUS=on']);
    });
    expect(complaints).toEqual(['systemd-notify failed: no such service (while sending READY=1)']);
  });

  it('tells the log when there is no systemd-notify', async () => {
    const complaints = start({ PATH: folder, NOTIFY_SOCKET: '/run/systemd/notify' }, of(true));
    await until(() => {
      expect(complaints).toEqual([expect.stringContaining('ENOENT')]);
    });
  });

  it('refuses a watchdog of a second or less', async () => {
    const told = systemd({
      env: environment('', { WATCHDOG_USEC: '1000000' }),
      pid: 7,
      healthy$: NEVER,
      status$: NEVER,
    });
    await expect(lastValueFrom(told)).rejects.toThrow('WatchdogSec must be longer than 1s');
  });
});

describe('systemdStopping', () => {
  it('says that we are about to end', async () => {
    expect(await lastValueFrom(systemdStopping(environment()).pipe(toArray()))).toEqual([]);
    expect(said()).toEqual(['STOPPING=1']);
  });

  it('ends even where it cannot be said', async () => {
    const env = environment('exit 1');
    expect(await lastValueFrom(systemdStopping(env).pipe(toArray()))).toEqual([]);
  });

  it('ends at once where systemd does not listen', async () => {
    expect(await lastValueFrom(systemdStopping({}).pipe(toArray()))).toEqual([]);
  });
});
