import { distinctUntilChanged, filter, map, merge, pairwise, Subject, take, timer, type Observable } from 'rxjs';
import { changedKeys } from '../../model/objects/object-set.ts';
import { emitAll } from '../../operators/emit-all.ts';
import { switchByKey } from '../../operators/switch-by-key.ts';
import type { BookEvent } from '../book/pod-book.ts';
import type { Pleg } from '../pleg/pleg.ts';
import type { ProbeReport } from '../probes/probe.ts';
import type { RuntimeState } from '../runtime-state/runtime-state.ts';
import type { PodOutcome } from '../workers/pod-work.ts';
import type { World } from './world.ts';

/** What comes of the pages themselves, and is written into the next ones. */
export interface Feedback {
  readonly outcomes: Subject<PodOutcome>;
  readonly starts: Subject<Extract<BookEvent, { kind: 'starting' }>>;
  readonly findings: Subject<ProbeReport>;
  readonly kills: Subject<BookEvent>;
}

/** Pages that were subscribed to their own works would never come to an end, so what comes of these is put in by hand. */
export function feedback(): Feedback {
  return { outcomes: new Subject(), starts: new Subject(), findings: new Subject(), kills: new Subject() };
}

/** What the agent hears of the runtime. */
interface Heard extends Pick<Pleg, 'snapshot$' | 'sighting$' | 'recovered$'> {
  readonly runtime$: Observable<RuntimeState>;
}

/**
 * All that the book hears of, one event at a time.
 *
 * ```text
 * batches      c----------------    c: changes of pods
 * runtime      -s----g-r--------    s: a list of all it holds, g: a pod that changed, r: it is ready
 * outcomes     ---o-------------    o: one that names its next turn in 2
 * sources      -----------a-----    a: all of them were heard
 * drain        --------------d--
 * result       cs-o-wg-r--a--d--    w: the turn's time, unless a newer outcome names another
 * ```
 *
 * Starts of containers, findings of probes and kills pass likewise.
 * Never errors; completes when all of them have.
 */
export function bookEvents(
  world: Pick<World, 'batch$' | 'objects$' | 'allSeen$' | 'drain$'>,
  { runtime$, snapshot$, sighting$, recovered$ }: Heard,
  { outcomes, starts, findings, kills }: Feedback,
): Observable<BookEvent> {
  return merge(
    world.batch$.pipe(map((changes) => ({ kind: 'changes' as const, changes }))),
    world.objects$.pipe(
      pairwise(),
      map(([before, after]) => ({ kind: 'objects' as const, keys: changedKeys(before, after) })),
    ),
    world.allSeen$.pipe(
      filter(Boolean),
      take(1),
      map(() => ({ kind: 'allSeen' as const })),
    ),
    snapshot$.pipe(map((snapshot) => ({ kind: 'snapshot' as const, snapshot }))),
    sighting$.pipe(map(({ pod }) => ({ kind: 'sighting' as const, pod }))),
    findings.pipe(emitAll(probeEvents)),
    starts,
    kills,
    // Before the page is turned on it: work that follows and ends at once has the later word on when to look again.
    outcomes.pipe(switchByKey({ key: ({ uid }) => uid, project: wakeUp })),
    outcomes.pipe(map((outcome) => ({ kind: 'outcome' as const, outcome }))),
    runtime$.pipe(
      map(({ ready, networkReady }) => ready && networkReady),
      distinctUntilChanged(),
      filter(Boolean),
      map(() => ({ kind: 'runtimeReady' as const })),
    ),
    recovered$.pipe(map(() => ({ kind: 'runtimeReady' as const }))),
    world.drain$.pipe(
      take(1),
      map(() => ({ kind: 'drain' as const })),
    ),
  );
}

function probeEvents(report: ProbeReport): readonly BookEvent[] {
  if (report.kind === 'ended') return [];
  const { uid, container, findings } = report;
  return [{ kind: 'probe', uid, container, findings }];
}

/** The pod gets its next turn when its outcome says so, unless something else comes first. */
function wakeUp(outcome: PodOutcome): Observable<BookEvent> | undefined {
  switch (outcome.kind) {
    case 'synced':
      return outcome.finished ? undefined : timer(outcome.next).pipe(map(() => ({ kind: 'wake', uid: outcome.uid })));
    case 'failed':
      return timer(outcome.next).pipe(map(() => ({ kind: 'wake', uid: outcome.uid })));
    case 'prepared':
    case 'ended':
    case 'cleanedUp':
      return undefined;
  }
}
