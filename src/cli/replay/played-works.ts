import { concat, defer, ignoreElements, merge, NEVER, Subject, takeUntil, tap, type Observable } from 'rxjs';
import type { Checkpoint } from '../../streams/checkpoints/checkpoints.ts';
import { memoryOf } from '../../streams/checkpoints/checkpoints.ts';
import { identityIn } from '../../streams/trace/trace-page.ts';
import type { PodReport, PodWork } from '../../streams/workers/pod-work.ts';
import { podWorkers, type PodActions } from '../../streams/workers/pod-workers.ts';
import type { Asker } from './asks.ts';

/** A work that goes on now; what it tells waits until the recording comes to it. */
export interface Act extends Asker {
  /** Since when, in milliseconds since 1970. */
  readonly at: number;
  readonly work: PodWork;
  readonly told: PodReport[];
  /** Hands on to its lane what the recording has come to. */
  readonly reports: Subject<PodReport>;
  readonly end: Subject<undefined>;
  isDone: boolean;
  isCut: boolean;
}

/**
 * The lanes of the workers, in which each work begins when they say so, and tells and ends when the recording does.
 * `begins` hears of each before it has done anything.
 */
export function playedWorks(
  work$: Observable<PodWork>,
  { perform }: PodActions,
  kept: readonly Checkpoint[],
  now: () => number,
  begins: (act: Act) => void,
): Observable<PodReport> {
  const gated: PodActions = {
    perform: (work, memory) =>
      defer(() => {
        const { namespace, name } = identityIn(work);
        const act: Act = {
          at: now(),
          work,
          pod: `${namespace}/${name}`,
          doing: work.kind,
          told: [],
          reports: new Subject(),
          end: new Subject(),
          isDone: false,
          isCut: false,
        };
        begins(act);
        const live$ = perform(work, memory).pipe(
          tap({
            next: (report) => act.told.push(report),
            complete: () => {
              act.isDone = true;
            },
          }),
          ignoreElements(),
        );
        return merge(act.reports, concat(live$, NEVER)).pipe(
          // eslint-disable-next-line rxjs-x/no-unsafe-takeuntil -- to be cut by its lane is no end of it
          takeUntil(act.end),
          tap({
            unsubscribe: () => {
              act.isCut = true;
            },
          }),
        );
      }),
  };
  return podWorkers(work$, gated, new Map(kept.map((one) => [one.uid, memoryOf(one)])));
}
