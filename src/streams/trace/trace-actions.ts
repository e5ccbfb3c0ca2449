import { asyncScheduler, defer, finalize, tap } from 'rxjs';
import { messageOf } from '../../model/errors.ts';
import { UNWATCHED, type Tracer } from '../ports/tracer.ts';
import type { PodActions } from '../workers/pod-workers.ts';
import type { PodOutcome } from '../workers/pod-work.ts';
import type { TraceFact } from './trace-event.ts';
import { identityIn } from './trace-page.ts';

type Told = Omit<Extract<TraceFact, { kind: 'outcome' }>, 'kind' | 'pod' | 'work' | 'took'>;

/** The same actions, which tell when each work begins, and how and after what time it has ended. */
export function traceActions(actions: PodActions, trace: Tracer): PodActions {
  if (trace === UNWATCHED) return actions;
  const { perform } = actions;
  return {
    perform: (work, memory) =>
      defer(() => {
        const begun = asyncScheduler.now();
        const pod = identityIn(work);
        let isTold = false;
        function tell(told: Told): void {
          if (isTold) return;
          isTold = true;
          trace({ kind: 'outcome', pod, work: work.kind, took: asyncScheduler.now() - begun, ...told });
        }
        trace({ kind: 'begin', pod, work: work.kind });
        return perform(work, memory).pipe(
          tap({
            next: (report) => {
              if (report.kind === 'outcome') tell(toldOf(report.outcome));
            },
            error: (error: unknown) => {
              tell({ outcome: 'failed', error: messageOf(error) });
            },
          }),
          finalize(() => {
            tell({ outcome: 'cut' });
          }),
        );
      }),
  };
}

function toldOf(outcome: PodOutcome): Told {
  switch (outcome.kind) {
    case 'synced': {
      const { finished, next, waiting } = outcome;
      const reasons = [...waiting].map(([container, { reason }]) => `${container} ${reason}`);
      return {
        outcome: finished ? 'finished' : 'synced',
        ...(finished ? {} : { next }),
        ...(reasons.length > 0 ? { waiting: reasons } : {}),
      };
    }
    case 'failed':
      return { outcome: 'failed', error: messageOf(outcome.error), next: outcome.next };
    case 'prepared':
    case 'ended':
    case 'cleanedUp':
      return { outcome: outcome.kind };
  }
}
