import {
  concat,
  concatMap,
  defer,
  filter,
  groupBy,
  map,
  merge,
  mergeMap,
  NEVER,
  takeUntil,
  type Observable,
  type OperatorFunction,
} from 'rxjs';
import { changedKeys } from '../../model/layered-map.ts';
import type { PodUid } from '../../model/pod.ts';
import type { Entry, PodBook } from '../book/pod-book.ts';
import { containerProbes } from './container-probes.ts';
import type { ProbePorts, ProbeReport } from './probe.ts';
import { probedContainers, type ProbedContainer } from './probed-container.ts';

/**
 * Probes the containers of all pods in the book, each by itself.
 *
 * ```text
 * book$      ab-------c---a---     a: no pod, b: a pod runs, c: it is being ended
 * probe       ---s---s---s         s: it answers well, each 3 after it was asked
 * report      f--r        e        f: not ready yet, r: ready, e: ended
 * ```
 *
 * Emits, for each instance of a container, the results that it begins with, then every change of a result and every
 * failure, warning and error, and `ended` when the container is probed no more. One timer is held per probe of a
 * running container, and nothing for the others. `agentStartedAt` is in milliseconds since 1970.
 * Never errors and never completes.
 */
export function prober(book$: Observable<PodBook>, ports: ProbePorts, agentStartedAt: number): Observable<ProbeReport> {
  return concat(book$, NEVER).pipe(
    changes(),
    groupBy(({ key }) => key, { duration: (lane$) => lane$.pipe(filter(({ now }) => now === undefined)) }),
    mergeMap((lane$) => probeLane(lane$, ports, agentStartedAt)),
  );
}

/** What became of one container; `now` is absent when it is to be probed no more. */
interface ContainerChange {
  readonly key: string;
  readonly uid: PodUid;
  readonly container: string;
  readonly now: ProbedContainer | undefined;
}

function probeLane(
  lane$: Observable<ContainerChange>,
  ports: ProbePorts,
  agentStartedAt: number,
): Observable<ProbeReport> {
  const gone$ = lane$.pipe(filter(({ now }) => now === undefined));
  const container$ = lane$.pipe(mergeMap(({ now }) => (now ? [now] : [])));
  return merge(
    containerProbes(container$, ports, agentStartedAt).pipe(takeUntil(gone$)),
    gone$.pipe(map(({ uid, container }) => ({ kind: 'ended' as const, uid, container }))),
  );
}

/** The probed containers of every entry that is new or not as it was, and those that are no more. */
function changes(): OperatorFunction<PodBook, ContainerChange> {
  return (book$) =>
    defer(() => {
      let entries: ReadonlyMap<PodUid, Entry> = new Map();
      const names = new Map<PodUid, ReadonlySet<string>>();

      function turn(uid: PodUid, entry: Entry | undefined): readonly ContainerChange[] {
        const probed = entry ? probedContainers(entry) : [];
        const found = new Set(probed.map(({ container }) => container.name));
        const gone = [...(names.get(uid) ?? [])].filter((name) => !found.has(name));
        if (found.size > 0) names.set(uid, found);
        else names.delete(uid);
        return [
          ...gone.map((name) => change(uid, name, undefined)),
          ...probed.map((now) => change(uid, now.container.name, now)),
        ];
      }

      return book$.pipe(
        concatMap((book) => {
          const former = entries;
          entries = book.entries;
          return changedKeys(former, entries).flatMap((uid) => turn(uid, entries.get(uid)));
        }),
      );
    });
}

function change(uid: PodUid, container: string, now: ProbedContainer | undefined): ContainerChange {
  return { key: `${uid}/${container}`, uid, container, now };
}
