import { catchError, concat, concatMap, defer, map, of, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { allContainers } from '../../model/containers.ts';
import type { ObservedPod, ObservedSandbox } from '../../model/observed.ts';
import type { Pod } from '../../model/pod.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { PodReport, PodWork } from '../../streams/workers/pod-work.ts';
import type { Observer } from '../observe.ts';
import type { PerformContext } from '../perform-context.ts';
import { stopPod, type Ending } from '../stop-pod.ts';
import { failed } from './failed.ts';
import { growing } from './retry-times.ts';

type Terminate = Extract<PodWork, { kind: 'terminate' }>;

/**
 * Ends every container of a pod, and its sandboxes where they hold what a successor may need; that has succeeded only
 * when a look afterwards shows none of them up. Other sandboxes end with the clean-up, beside the successor's start.
 */
export function terminatePod(
  work: Terminate,
  memory: PodMemory,
  observer: Observer,
  context: PerformContext,
): Observable<PodReport> {
  const { uid, grace } = work;
  const isExclusive = holdsNodePorts(work.pod);
  const mayLast = ({ state }: ObservedSandbox): boolean => !isExclusive && state === 'ready';
  return observer.observePod(uid).pipe(
    concatMap((before) =>
      concat(
        stopPod(
          { ...before, sandboxes: before.sandboxes.filter((sandbox) => !mayLast(sandbox)) },
          grace,
          '',
          endingOf(work, before, context),
        ).pipe(map((note): PodReport => ({ kind: 'note', uid, note }))),
        defer(() => observer.observePod(uid)).pipe(
          map((observed): PodReport => {
            const acted = { ...memory, actedAt: context.revisions.current() };
            const left = stillUp(observed, before.sandboxes.filter(mayLast));
            if (left.length > 0) {
              return failed(
                work,
                acted,
                new Error(`still running after the kill: ${left.join(', ')}`),
                growing(memory.failures + 1, context),
                observed,
              );
            }
            return {
              kind: 'outcome',
              uid,
              outcome: { kind: 'ended', uid, work, observed },
              memory: { ...acted, failures: 0 },
            };
          }),
        ),
      ),
    ),
    catchError((error: unknown) =>
      of<PodReport[]>(
        {
          kind: 'note',
          uid,
          note: { level: 'Warning', reason: 'FailedKillPod', message: `error killing pod: ${messageOf(error)}` },
        },
        failed(work, memory, error, growing(memory.failures + 1, context)),
      ),
    ),
  );
}

/** A sandbox too, unless it may last a little: a call that was cancelled may have had its effect only after the kill. */
function stillUp({ containers, sandboxes }: ObservedPod, lasting: readonly ObservedSandbox[]): readonly string[] {
  const lastingIds = new Set(lasting.map(({ id }) => id));
  return [
    ...containers.filter(({ state }) => state === 'running').map(({ name }) => name),
    ...sandboxes
      .filter(({ id, state }) => state === 'ready' && !lastingIds.has(id))
      .map(({ attempt }) => `sandbox ${attempt}`),
  ];
}

/**
 * Only one pod at a time can have a port of the node, and the runtime frees it with the sandbox. Of a pod whose manifest
 * is gone nobody knows.
 */
function holdsNodePorts(pod: Pod | undefined): boolean {
  if (!pod) return true;
  if (pod.spec.hostNetwork === true) return false;
  return allContainers(pod.spec).some(({ ports }) => ports?.some(({ hostPort = 0 }) => hostPort !== 0));
}

function endingOf({ pod }: Terminate, { sandboxes }: ObservedPod, { cri, http }: PerformContext): Ending {
  return { cri, http, pod, podIp: sandboxes[0]?.ips?.[0] };
}
