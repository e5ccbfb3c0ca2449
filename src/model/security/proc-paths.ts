import type { LinuxContainerSecurityContext } from '../cri/api.ts';

const MASKED_PATHS = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const READONLY_PATHS = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** What of /proc and /sys a container does not see or may not change; with `Unmasked` it sees all (facts sheet 12). */
export function procPaths(
  procMount: string | undefined,
  thermalThrottlePaths: readonly string[],
): Pick<LinuxContainerSecurityContext, 'maskedPaths' | 'readonlyPaths'> {
  if (procMount === 'Unmasked') return { maskedPaths: [], readonlyPaths: [] };
  return { maskedPaths: [...MASKED_PATHS, ...thermalThrottlePaths], readonlyPaths: READONLY_PATHS };
}
