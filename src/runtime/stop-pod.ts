import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  EMPTY,
  endWith,
  finalize,
  forkJoin,
  ignoreElements,
  merge,
  of,
  race,
  ReplaySubject,
  takeWhile,
  tap,
  throwError,
  timeout,
  timer,
  type Observable,
} from 'rxjs';
import { allContainers, sidecarsOf } from '../model/containers.ts';
import { PRE_STOP_HANDLER } from '../model/cri/labels.ts';
import { messageOf, RuntimeError } from '../model/errors.ts';
import type { ObservedContainer, ObservedPod } from '../model/observed.ts';
import type { Pod } from '../model/pod.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Http } from '../streams/ports/http.ts';
import type { PodNote } from '../streams/workers/pod-work.ts';
import { preStopOf, runHook } from './lifecycle-hook.ts';

/** The runtime is never asked to kill sooner than this, so that a process sees its signal (facts sheet 17). Seconds. */
const LEAST_GRACE = 2;

type EndingContainer = Pick<ObservedContainer, 'id' | 'name' | 'annotations'>;

/** Whose containers are ended, and how they are reached. */
export interface Ending {
  readonly cri: Cri;
  readonly http: Http;
  /** Absent when the manifest is gone; then the containers' own annotations tell what there is to know. */
  readonly pod?: Pod | undefined;
  readonly podIp?: string | undefined;
}

/**
 * Ends every container of a pod at the same time, each within `grace` seconds, and then its sandboxes.
 *
 * ```text
 * main          --|
 * sidecar b     hh---|           hooks run at once; the signal waits for those that depend on the sidecar
 * sidecar a     hh-----|         in reverse order of their start, and never longer than the grace
 * sandboxes            --|
 * result        (kk)-----|       k: Killing, a note for each container
 * ```
 *
 * What is gone already counts as ended. Errors with the first failure, after every container had its chance.
 */
export function stopPod(observed: ObservedPod, grace: number, why: string, ending: Ending): Observable<PodNote> {
  return defer(() => {
    const containers = observed.containers.filter(({ state }) => state === 'running' || state === 'unknown');
    const turns = turnsOf(containers, ending.pod);
    return concat(
      allToTheirEnd(
        containers.map((container) => {
          const { turn$, done } = turns(container);
          return stopContainer(container, grace, why, ending, turn$).pipe(finalize(done));
        }),
      ),
      stopSandboxes(observed.sandboxes, ending.cri),
    );
  });
}

/** Ends sandboxes; one that is not ready any more may still hold what its network was given. */
export function stopSandboxes(
  sandboxes: ObservedPod['sandboxes'],
  cri: Pick<Cri, 'stopPodSandbox'>,
): Observable<never> {
  return allToTheirEnd(sandboxes.map(({ id }) => unlessGone(cri.stopPodSandbox({ podSandboxId: id }))));
}

/**
 * Ends one container: its preStop hook, then its turn, then the runtime's signal and kill, all within `grace` seconds.
 *
 * ```text
 * hook      ---|
 * turn             -t         what a sidecar waits for
 * kill               --|      with what is left of the grace, but at least 2 seconds
 * result    k----------|      k: Killing
 * ```
 */
export function stopContainer(
  container: EndingContainer,
  grace: number,
  why: string,
  ending: Ending,
  turn$: Observable<unknown> = of(undefined),
): Observable<PodNote> {
  const { id, name } = container;
  const message = why === '' ? `Stopping container ${name}` : why;
  return defer(() => {
    const begun = asyncScheduler.now();
    let counted = 0;
    const second$ = timer(1_000, 1_000).pipe(
      tap(() => {
        counted += 1;
      }),
      ignoreElements(),
    );
    // The clock may be set meanwhile, which must neither cut a grace short nor draw it out: the count is never far off.
    const passed = (): number =>
      Math.min(Math.max(counted, Math.floor((asyncScheduler.now() - begun) / 1_000)), counted + 1);
    const left = (): number => grace - passed();
    const wait$ = concat(
      preStop(container, grace, ending),
      defer(() => race(turn$, timer(Math.max(0, left()) * 1_000)).pipe(ignoreElements())),
    );
    return concat(
      of<PodNote>({ level: 'Normal', reason: 'Killing', message, container: name }),
      merge(second$, wait$.pipe(endWith(undefined))).pipe(takeWhile((note) => note !== undefined)),
      defer(() => unlessGone(ending.cri.stopContainer({ containerId: id, timeout: Math.max(LEAST_GRACE, left()) }))),
    );
  });
}

/** A hook that fails, or does not finish in time, is a note: the container is ended all the same. */
function preStop(container: EndingContainer, grace: number, { pod, podIp, cri, http }: Ending): Observable<PodNote> {
  const { id, name, annotations } = container;
  const handler = preStopOf(pod, name, annotations[PRE_STOP_HANDLER]);
  if (!handler || grace <= 0) return EMPTY;
  const ports = pod && allContainers(pod.spec).find((one) => one.name === name)?.ports;
  const target = { containerId: id, container: { name, ...(ports ? { ports } : {}) }, podIp };
  const tooLong = new Error(`did not finish in ${grace} s`);
  return runHook(handler, target, { cri, http }).pipe(
    timeout({ first: grace * 1_000, with: () => throwError(() => tooLong) }),
    catchError((error: unknown) =>
      of<PodNote>({
        level: 'Warning',
        reason: 'FailedPreStopHook',
        message: `PreStopHook failed: ${messageOf(error)}`,
        container: name,
      }),
    ),
  );
}

interface Turn {
  /** Emits when everything that must end before this container has ended. */
  readonly turn$: Observable<unknown>;
  readonly done: () => void;
}

/** Regular containers end at once; a sidecar after them and after the sidecars that started later (KEP-753). */
function turnsOf(
  containers: readonly ObservedContainer[],
  pod: Pod | undefined,
): (container: ObservedContainer) => Turn {
  const order = pod ? sidecarsOf(pod.spec).map(({ name }) => name) : [];
  const rank = ({ name }: ObservedContainer): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const ends = new Map(containers.map((container) => [container, new ReplaySubject<void>(1)]));
  return (container) => {
    const before = containers.filter((other) => rank(other) > rank(container));
    const end = ends.get(container);
    return {
      turn$: before.length === 0 ? of(undefined) : forkJoin(before.flatMap((other) => ends.get(other) ?? [])),
      done: () => {
        end?.next();
        end?.complete();
      },
    };
  };
}

/** Completes when the call has; an object that is not there any more is as good as stopped or removed. */
export function unlessGone(call$: Observable<unknown>): Observable<never> {
  return call$.pipe(
    ignoreElements(),
    catchError((error: unknown) =>
      error instanceof RuntimeError && error.kind === 'notFound' ? EMPTY : throwError(() => error),
    ),
  );
}

/** Runs all side by side and lets each come to its end before the first failure is told. */
function allToTheirEnd<T>(works: readonly Observable<T>[]): Observable<T> {
  return defer(() => {
    const failures: unknown[] = [];
    const guarded = works.map((work$) =>
      work$.pipe(
        catchError((error: unknown) => {
          failures.push(error);
          return EMPTY;
        }),
      ),
    );
    return concat(
      merge(...guarded),
      defer(() => (failures.length > 0 ? throwError(() => failures[0]) : EMPTY)),
    );
  });
}
