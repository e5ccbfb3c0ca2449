import { catchError, concat, defer, EMPTY, map, of, type Observable } from 'rxjs';
import { allContainers } from '../model/containers.ts';
import { assertNever, messageOf } from '../model/errors.ts';
import { graceOf } from '../model/grace.ts';
import type { ObservedPod } from '../model/observed.ts';
import type { FailedPull, PodMemory } from '../model/pod-memory.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { PodNote, WaitingReasons } from '../streams/workers/pod-work.ts';
import { StartError, withTag } from './ensure-image.ts';
import type { PerformContext } from './perform-context.ts';
import type { PodPlan } from './plan-pod.ts';
import type { Step } from './plan-steps.ts';
import { withinPodCgroup } from './pod-cgroup.ts';
import { preparePodFiles } from './pod-files.ts';
import { optional } from './steps/optional.ts';
import { endingOf, type Progress } from './steps/progress.ts';
import { removeContainer } from './steps/remove-container.ts';
import { resizeContainer } from './steps/resize-container.ts';
import { runSandbox } from './steps/run-sandbox.ts';
import { startContainer } from './steps/start-container.ts';
import { startMade } from './steps/start-made.ts';
import { stopContainer, stopPod, unlessGone } from './stop-pod.ts';

export type PlanProgress =
  | { readonly kind: 'note'; readonly note: PodNote }
  /** A container with a postStart hook is about to be started. */
  | { readonly kind: 'starting'; readonly container: string }
  /** The last value: which containers could not be started, which pulls failed, and what the cgroup is limited to. */
  | {
      readonly kind: 'done';
      readonly failures: WaitingReasons;
      readonly pulls: ReadonlyMap<string, FailedPull>;
      readonly limits: string | undefined;
    };

/**
 * Does the steps of a plan, one after another.
 *
 * ```text
 * runSandbox    --|
 * create a        -----|
 * start a              -|
 * create b              -----#         cannot be made: the others go on without it
 * result        --p----c(sp)-(fd|)     p: Pulled   c: Created   s: Started   f: Failed   d: done
 * ```
 *
 * A container that cannot be started is a failure among the results; a step that the others build on (the sandbox,
 * stopping the pod) errors. Unsubscribing cancels the call in flight.
 */
export function performPlan(
  plan: PodPlan,
  pod: Pod,
  observed: ObservedPod,
  memory: PodMemory,
  context: PerformContext,
): Observable<PlanProgress> {
  return defer(() => {
    const progress: Progress = {
      sandboxId: plan.sandbox?.id ?? '',
      attempt: plan.sandbox?.attempt ?? 0,
      ips: plan.sandbox?.ips ?? [],
      sandbox: undefined,
      limits: memory.limits,
      failures: new Map(),
      pulls: new Map([...memory.pulls].filter(([image]) => isImageOf(pod, image))),
    };
    const does = (...kinds: readonly Step['do'][]): boolean => plan.steps.some((step) => kinds.includes(step.do));
    const steps$ = concat(
      plan.steps.some(replacesSandbox) ? of(noted(REPLACED)) : EMPTY,
      plan.sandbox && does('startContainer') ? preparePodFiles(pod, context, memory.mounts).pipe(map(noted)) : EMPTY,
      ...plan.steps.map((step) =>
        concat(
          hookBegins(step),
          defer(() => performStep(step, pod, observed, memory, progress, context)).pipe(map(noted)),
        ),
      ),
    );
    const isInSandbox = plan.sandbox && does('startContainer', 'resizeContainer');
    return concat(
      isInSandbox ? withinPodCgroup<PlanProgress>(pod, progress, context, steps$) : steps$,
      defer(() => {
        const { failures, pulls, limits } = progress;
        return of<PlanProgress>({ kind: 'done', failures, pulls, limits });
      }),
    );
  });
}

/** The first sandbox of a pod replaces none, and of another network no event tells. */
function replacesSandbox(step: Step): boolean {
  return step.do === 'runSandbox' && step.attempt > 0 && step.quiet !== true;
}

const REPLACED: PodNote = {
  level: 'Normal',
  reason: 'SandboxChanged',
  message: 'Pod sandbox changed, it will be killed and re-created.',
};

function noted(note: PodNote): PlanProgress {
  return { kind: 'note', note };
}

function hookBegins(step: Step): readonly PlanProgress[] {
  if (step.do !== 'startContainer' && step.do !== 'startCreated') return [];
  const { name, lifecycle } = step.container;
  return lifecycle?.postStart ? [{ kind: 'starting', container: name }] : [];
}

function isImageOf({ spec }: Pod, image: string): boolean {
  return (
    allContainers(spec).some((container) => withTag(container.image ?? '') === image) ||
    spec.volumes?.some((volume) => volume.image && withTag(volume.image.reference ?? '') === image) === true
  );
}

function performStep(
  step: Step,
  pod: Pod,
  observed: ObservedPod,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { cri } = context;
  switch (step.do) {
    case 'stopPod':
      return stopPod(observed, graceOf(pod), step.why, endingOf(pod, progress, context));
    case 'stopContainer':
      return stopContainer(step.container, step.grace ?? graceOf(pod), step.why, endingOf(pod, progress, context));
    case 'runSandbox':
      return runSandbox(pod, step.attempt, memory, progress, context);
    case 'startContainer':
      return startContainer(pod, step.container, step.attempt, memory, progress, context).pipe(
        keepGoing(step.container, progress),
      );
    case 'startCreated':
      return startMade(pod, step.container, step.created, progress, context).pipe(keepGoing(step.container, progress));
    case 'resizeContainer':
      return resizeContainer(pod, step.container, step.running, context);
    case 'removeContainer':
      return optional(removeContainer(pod, step.container, step.keepLog === true, context));
    case 'removeSandbox':
      return optional(unlessGone(cri.removePodSandbox({ podSandboxId: step.sandbox.id })));
    default:
      return assertNever(step);
  }
}

/** Turns what keeps one container from starting into a failure on record, so that the others get their turn. */
function keepGoing({ name }: Container, { failures }: Progress): (source$: Observable<PodNote>) => Observable<PodNote> {
  return catchError((error: unknown) => {
    const reason = error instanceof StartError ? error.reason : 'CreateContainerError';
    const message = messageOf(error);
    const told = error instanceof StartError ? error.told : message;
    failures.set(name, { reason, message });
    if (reason === 'PostStartHookError') return EMPTY; // the hook's own note has told it
    return of<PodNote>({ level: 'Warning', reason: 'Failed', message: `Error: ${told}`, container: name });
  });
}
