import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  take,
  tap,
  throwError,
  type Observable,
} from 'rxjs';
import { allContainers } from '../model/containers.ts';
import { pullSecrets } from '../model/credentials/pull-secrets.ts';
import type { DnsProblem } from '../model/dns.ts';
import { assertNever, messageOf } from '../model/errors.ts';
import type { ObservedContainer, ObservedPod } from '../model/observed.ts';
import { containerLink, containerLogPath, podLogDir } from '../model/paths.ts';
import { podIpsInOrder } from '../model/pod-ips.ts';
import type { FailedPull, PodMemory } from '../model/pod-memory.ts';
import type { Container, Pod } from '../model/pod.ts';
import { defaultPullPolicy } from '../model/manifest/pull-policy.ts';
import type { Http } from '../streams/ports/http.ts';
import type { Tracer } from '../streams/ports/tracer.ts';
import type { PodNote, WaitingReasons } from '../streams/workers/pod-work.ts';
import { graceOf } from '../model/grace.ts';
import { containerResources } from '../model/resources.ts';
import { runHook } from './lifecycle-hook.ts';
import type { LocalImage } from '../model/local-image.ts';
import type { RuntimeContext } from './context.ts';
import { ensureImage, StartError, withTag, type Images, type ImageStep } from './ensure-image.ts';
import type { PodPlan } from './plan-pod.ts';
import { complaintOf, makeContainer } from './make-container.ts';
import { SANDBOX_CHANGED, type Step } from './plan-steps.ts';
import { preparePodCgroup, withinPodCgroup } from './pod-cgroup.ts';
import { nextAttemptByLogs, preparePodFiles } from './pod-files.ts';
import { planSandbox, type SandboxPlan } from './sandbox-plan.ts';
import { stopContainer, stopPod, unlessGone, type Ending } from './stop-pod.ts';

export interface PerformContext extends RuntimeContext {
  readonly images: Images;
  readonly http: Http;
  /** Hears what is planned; absent: nobody does. */
  readonly trace?: Tracer;
}

export type PlanProgress =
  | { readonly kind: 'note'; readonly note: PodNote }
  /** A container with a postStart hook is about to be started. */
  | { readonly kind: 'starting'; readonly container: string }
  /** The last value: which containers could not be started, and which pulls failed. */
  | { readonly kind: 'done'; readonly failures: WaitingReasons; readonly pulls: ReadonlyMap<string, FailedPull> };

/** What the steps of one plan hand on to each other. */
interface Progress {
  sandboxId: string;
  attempt: number;
  ips: readonly string[];
  sandbox: SandboxPlan | undefined;
  readonly failures: Map<string, { readonly reason: string; readonly message: string }>;
  readonly pulls: Map<string, FailedPull>;
}

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
      isInSandbox ? withinPodCgroup<PlanProgress>(pod, context, steps$) : steps$,
      defer(() => of<PlanProgress>({ kind: 'done', failures: progress.failures, pulls: progress.pulls })),
    );
  });
}

/** The first sandbox of a pod replaces none. */
function replacesSandbox(step: Step): boolean {
  return step.do === 'runSandbox' && step.attempt > 0;
}

const REPLACED: PodNote = { level: 'Normal', reason: 'SandboxChanged', message: SANDBOX_CHANGED };

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
      return removeContainer(pod, step.container, step.keepLog === true, context);
    case 'removeSandbox':
      return optional(unlessGone(cri.removePodSandbox({ podSandboxId: step.sandbox.id })));
    default:
      return assertNever(step);
  }
}

function runSandbox(
  pod: Pod,
  attempt: number,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { cri } = context;
  return concat(
    merge(preparePodCgroup(pod, context), preparePodFiles(pod, context, memory.mounts)),
    sandboxFor(pod, attempt, progress, context).pipe(
      concatMap(({ config, runtimeHandler, problems }) =>
        concat(
          from(problems.map(resolverNote)),
          cri.runPodSandbox({ config, runtimeHandler }).pipe(
            tap(({ podSandboxId }) => {
              progress.sandboxId = podSandboxId ?? '';
              progress.attempt = attempt;
            }),
            concatMap(() => cri.podSandboxStatus({ podSandboxId: progress.sandboxId })),
            tap(({ status }) => {
              const { ip, additionalIps } = status?.network ?? {};
              const all = [ip ?? '', ...(additionalIps ?? []).map((more) => more.ip ?? '')].filter(Boolean);
              progress.ips = podIpsInOrder(all, context.facts.hostIps);
            }),
            ignoreElements(),
          ),
        ),
      ),
    ),
  );
}

/** A node on its own has no cluster whose names could be missed, so there is nothing to warn of. */
function resolverNote({ reason, message }: DnsProblem): PodNote {
  return { level: reason === 'MissingClusterDNS' ? 'Normal' : 'Warning', reason, message };
}

function startContainer(
  pod: Pod,
  container: Container,
  attempt: number | undefined,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { name } = container;
  const volumeImages = new Map<string, string>();
  return concat(
    ...imageVolumesOf(pod, container).map((volume) =>
      fetchImage(pod, volume, memory, progress, context).pipe(
        mergeMap((step) => {
          if (step.kind === 'note') return of(step.note);
          volumeImages.set(volume.name, step.image.ref);
          return EMPTY;
        }),
      ),
    ),
    fetchImage(pod, container, memory, progress, context).pipe(
      mergeMap((step) => (step.kind === 'note' ? of({ ...step.note, container: name }) : create(step.image))),
    ),
  );

  function create(local: LocalImage): Observable<PodNote> {
    const attempt$ = attempt === undefined ? nextAttemptByLogs(pod, name, context) : of(attempt);
    return attempt$.pipe(
      concatMap((restartCount) =>
        makeContainer(
          pod,
          container,
          {
            restartCount,
            image: local,
            volumeImages,
            sandboxId: progress.sandboxId,
            ips: progress.ips,
            sandbox$: sandboxFor(pod, progress.attempt, progress, context),
          },
          context,
        ).pipe(
          concatMap((id) =>
            concat(
              of<PodNote>({ level: 'Normal', reason: 'Created', message: 'Container created', container: name }),
              startMade(pod, container, { id, attempt: restartCount, annotations: {} }, progress, context),
            ),
          ),
        ),
      ),
    );
  }
}

/** What the container's image volumes are made of; each is fetched as if it were the image of a container. */
function imageVolumesOf({ spec }: Pod, { volumeMounts = [] }: Container): readonly Container[] {
  return (spec.volumes ?? []).flatMap(({ name, image }): readonly Container[] => {
    if (!image || !volumeMounts.some((mount) => mount.name === name)) return [];
    const { reference = '', pullPolicy } = image;
    return [{ name, image: reference, imagePullPolicy: pullPolicy ?? defaultPullPolicy(reference) }];
  });
}

/** Brings an image to the node, and remembers which pulls failed. */
function fetchImage(
  pod: Pod,
  wanted: Container,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<Exclude<ImageStep, { kind: 'failedPull' }>> {
  const image = withTag(wanted.image ?? '');
  // What is wrong with the sandbox is told where it is made: the image may come all the same.
  const sandbox$ = defer(() => sandboxFor(pod, progress.attempt, progress, context)).pipe(
    map(({ config }) => config),
    catchError(() => of(undefined)),
  );
  const asker = { annotations: pod.metadata.annotations, sandbox$ };
  return context.objects$.pipe(
    take(1),
    concatMap((objects) =>
      ensureImage(wanted, { ...memory, pulls: progress.pulls }, asker, context.images, pullSecrets(pod, objects)),
    ),
    mergeMap((step) => {
      if (step.kind === 'failedPull') {
        progress.pulls.set(image, step.failure);
        return EMPTY;
      }
      if (step.kind === 'image') progress.pulls.delete(image);
      return of(step);
    }),
  );
}

/** Starts a container that was made, shows its log to collectors, and runs its postStart hook to the end. */
function startMade(
  pod: Pod,
  container: Container,
  made: Pick<ObservedContainer, 'id' | 'attempt' | 'annotations'>,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { cri, files, paths } = context;
  const { name } = container;
  const log = `${podLogDir(paths, pod.metadata)}/${containerLogPath(name, made.attempt)}`;
  return concat(
    cri.startContainer({ containerId: made.id }).pipe(
      ignoreElements(),
      catchError((error: unknown) =>
        throwError(() => new StartError('RunContainerError', complaintOf(error, container))),
      ),
    ),
    of<PodNote>({ level: 'Normal', reason: 'Started', message: 'Container started', container: name }),
    // Only log collectors need the link: without it the container is as good as ever.
    optional(files.link(log, containerLink(paths, pod.metadata, name, made.id)).pipe(ignoreElements())),
    postStart(pod, container, made, progress, context),
  );
}

/** A hook that fails ends its container, which then restarts as its policy says (facts sheet 17). */
function postStart(
  pod: Pod,
  container: Container,
  { id, annotations }: Pick<ObservedContainer, 'id' | 'annotations'>,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { name } = container;
  const handler = container.lifecycle?.postStart;
  if (!handler) return EMPTY;
  const ending = endingOf(pod, progress, context);
  return runHook(handler, { containerId: id, container, podIp: ending.podIp }, ending).pipe(
    catchError((error: unknown) =>
      concat(
        of<PodNote>({
          level: 'Warning',
          reason: 'FailedPostStartHook',
          message: `PostStartHook failed: ${messageOf(error)}`,
          container: name,
        }),
        stopContainer({ id, name, annotations }, graceOf(pod), 'FailedPostStartHook', ending),
        throwError(() => new StartError('PostStartHookError', messageOf(error))),
      ),
    ),
  );
}

function endingOf(pod: Pod, { ips }: Progress, { cri, http }: PerformContext): Ending {
  return { cri, http, pod, podIp: pod.spec.hostNetwork === true ? undefined : ips[0] };
}

/** Facts sheet 10.5 says how amounts become the runtime's resources. */
function resizeContainer(
  pod: Pod,
  container: Container,
  { id }: ObservedContainer,
  context: PerformContext,
): Observable<PodNote> {
  const { cri, rules } = context;
  const { name } = container;
  return concat(
    cri
      .updateContainerResources({ containerId: id, linux: containerResources(pod.spec, container, rules) })
      .pipe(ignoreElements()),
    of<PodNote>({ level: 'Normal', reason: 'ResizeCompleted', message: `Container ${name} resized`, container: name }),
  );
}

function removeContainer(
  pod: Pod,
  container: ObservedContainer,
  keepsLog: boolean,
  { cri, files, paths }: PerformContext,
): Observable<never> {
  const log = container.detail?.logPath ?? '';
  return optional(
    concat(
      files.removeFile(containerLink(paths, pod.metadata, container.name, container.id)).pipe(ignoreElements()),
      unlessGone(cri.removeContainer({ containerId: container.id })),
      keepsLog || log === '' ? EMPTY : removeLog(log, files),
    ),
  );
}

/** With the parts of it that were rotated away. */
function removeLog(path: string, files: PerformContext['files']): Observable<never> {
  const slash = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, slash), path.slice(slash + 1)];
  return files.list(folder).pipe(
    concatMap((names) => [name, ...names.filter((each) => each.startsWith(`${name}.`))]),
    concatMap((each) => files.removeFile(`${folder}/${each}`)),
    ignoreElements(),
  );
}

/** The sandbox's configuration goes along with every container, so it is the same in all calls of one plan. */
function sandboxFor(pod: Pod, attempt: number, progress: Progress, context: PerformContext): Observable<SandboxPlan> {
  if (progress.sandbox) return of(progress.sandbox);
  return planSandbox(pod, attempt, context).pipe(
    tap((sandbox) => {
      progress.sandbox = sandbox;
    }),
  );
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

/** Tidying up that the next sync repeats; its failure must not keep a container from starting. */
function optional(work$: Observable<never>): Observable<never> {
  return work$.pipe(catchError(() => EMPTY));
}
