import { catchError, concat, concatMap, defer, map, of, type Observable } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import type { ObservedPod } from '../../model/observed.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { PodReport, PodWork } from '../../streams/workers/pod-work.ts';
import type { Observer } from '../observe.ts';
import type { PerformContext } from '../perform-plan.ts';
import { stopPod, type Ending } from '../stop-pod.ts';
import { failed } from './failed.ts';
import { growing } from './retry-times.ts';

type Terminate = Extract<PodWork, { kind: 'terminate' }>;

/** Ends every container and sandbox of a pod; that has succeeded only when a look afterwards shows none of them up. */
export function terminatePod(
  work: Terminate,
  memory: PodMemory,
  observer: Observer,
  context: PerformContext,
): Observable<PodReport> {
  const { uid, grace } = work;
  return observer.observePod(uid).pipe(
    concatMap((before) =>
      concat(
        stopPod(before, grace, '', endingOf(work, before, context)).pipe(
          map((note): PodReport => ({ kind: 'note', uid, note })),
        ),
        defer(() => observer.observePod(uid)).pipe(
          map((observed): PodReport => {
            const acted = { ...memory, actedAt: context.revisions.current() };
            const left = stillUp(observed);
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

/** A sandbox too: a call that was cancelled may have had its effect only after the kill. */
function stillUp({ containers, sandboxes }: ObservedPod): readonly string[] {
  return [
    ...containers.filter(({ state }) => state === 'running').map(({ name }) => name),
    ...sandboxes.filter(({ state }) => state === 'ready').map(({ attempt }) => `sandbox ${attempt}`),
  ];
}

function endingOf({ pod }: Terminate, { sandboxes }: ObservedPod, { cri, http }: PerformContext): Ending {
  return { cri, http, pod, podIp: sandboxes[0]?.ips?.[0] };
}
