import type { Environment } from './notify.ts';

/**
 * Milliseconds between two signs of life: half of what systemd allows (facts sheet 1.4). `undefined` where systemd
 * asks for none, or asks another process. Throws where it allows a second or less: no agent can promise that.
 */
export function watchdogPeriod(env: Environment, pid: number): number | undefined {
  const microseconds = Number(env['WATCHDOG_USEC'] ?? '0');
  const addressee = env['WATCHDOG_PID'] ?? '';
  if (microseconds === 0 || (addressee !== '' && addressee !== String(pid))) return undefined;
  if (!(microseconds > 1_000_000)) {
    throw new Error(`WatchdogSec must be longer than 1s, but WATCHDOG_USEC is ${env['WATCHDOG_USEC'] ?? ''}`);
  }
  return microseconds / 2_000;
}
