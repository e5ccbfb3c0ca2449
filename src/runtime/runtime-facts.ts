import { catchError, defer, forkJoin, map, of, throwError, timer, retry, type Observable } from 'rxjs';
import type { CgroupDriver } from '../model/cgroup.ts';
import { messageOf, RuntimeError } from '../model/errors.ts';
import type { Cri } from '../streams/ports/cri.ts';

export interface RuntimeFacts {
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  /** What the runtime says it uses; `configured` where it does not say. */
  readonly cgroupDriver: CgroupDriver;
}

/** Milliseconds between two tries while the runtime is not there. */
const RETRY = { floor: 100, ceiling: 2_000 };

/**
 * Asks the runtime who it is and which cgroup driver it uses (facts sheet 1.3). Emits once and completes.
 *
 * ```text
 * version   --# 99ms --# 199ms --(v|)
 * result    -- 100ms -- 200ms --(f|)
 * ```
 *
 * Waits for a runtime that is not there yet, with a growing delay; `onWait` hears why. Errors only where the runtime
 * speaks another CRI than v1.
 */
export function runtimeFacts(
  { version, runtimeConfig }: Pick<Cri, 'version' | 'runtimeConfig'>,
  configured: CgroupDriver,
  onWait: (why: string) => void,
): Observable<RuntimeFacts> {
  const driver$ = defer(runtimeConfig).pipe(
    map(({ linux }) => driverOf(linux, configured)),
    catchError((error: unknown) => (isUnimplemented(error) ? of(configured) : throwError(() => error))),
  );
  return forkJoin([defer(version), driver$]).pipe(
    map(([{ runtimeName, runtimeVersion, runtimeApiVersion }, cgroupDriver]) => {
      if (runtimeApiVersion !== 'v1') throw new WrongApiError(runtimeApiVersion ?? '');
      return { runtimeName: runtimeName ?? '', runtimeVersion: runtimeVersion ?? '', cgroupDriver };
    }),
    retry({
      delay: (error: unknown, attempt) => {
        if (error instanceof WrongApiError) return throwError(() => error);
        onWait(messageOf(error));
        return timer(Math.min(RETRY.ceiling, RETRY.floor * 2 ** Math.min(attempt - 1, 16)));
      },
    }),
  );
}

export class WrongApiError extends Error {
  override readonly name = 'WrongApiError';

  constructor(version: string) {
    super(`the container runtime speaks CRI ${JSON.stringify(version)}; rxlet needs v1`);
  }
}

/** proto3 leaves the first member of an enum out: a linux section without a driver says systemd. */
function driverOf(
  linux: { readonly cgroupDriver?: string | undefined } | undefined,
  configured: CgroupDriver,
): CgroupDriver {
  if (!linux) return configured;
  return linux.cgroupDriver === 'CGROUPFS' ? 'cgroupfs' : 'systemd';
}

function isUnimplemented(error: unknown): boolean {
  return error instanceof RuntimeError && error.kind === 'unimplemented';
}
