import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  mergeMap,
  of,
  tap,
  throwError,
  type Observable,
} from 'rxjs';
import { allContainers } from '../model/containers.ts';
import type { PodSandboxConfig } from '../model/cri/api.ts';
import { parseResolvConf, type DnsConfig } from '../model/dns.ts';
import { assertNever, messageOf } from '../model/errors.ts';
import type { ObservedContainer, ObservedPod } from '../model/observed.ts';
import { containerLink, containerLogPath, podLogDir } from '../model/paths.ts';
import type { FailedPull, PodMemory } from '../model/pod-memory.ts';
import type { Container, Pod } from '../model/pod.ts';
import type { Http } from '../streams/ports/http.ts';
import type { PodNote, WaitingReasons } from '../streams/workers/pod-work.ts';
import { graceOf } from '../model/grace.ts';
import { runHook } from './lifecycle-hook.ts';
import { containerConfig, type LocalImage } from './container-config.ts';
import type { RuntimeContext } from './context.ts';
import { ensureImage, StartError, withTag, type Images } from './ensure-image.ts';
import type { PodPlan } from './plan-pod.ts';
import type { Step } from './plan-steps.ts';
import { makeTerminationLog, nextAttemptByLogs, preparePodFiles, writeHosts } from './pod-files.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { stopContainer, stopPod, unlessGone, type Ending } from './stop-pod.ts';

export interface PerformContext extends RuntimeContext {
  readonly images: Images;
  readonly http: Http;
}

export type PlanProgress =
  | { readonly kind: 'note'; readonly note: PodNote }
  /** The last value: which containers could not be started, and which pulls failed. */
  | { readonly kind: 'done'; readonly failures: WaitingReasons; readonly pulls: ReadonlyMap<string, FailedPull> };

/** What the steps of one plan hand on to each other. */
interface Progress {
  sandboxId: string;
  attempt: number;
  ips: readonly string[];
  config: PodSandboxConfig | undefined;
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
      config: undefined,
      failures: new Map(),
      pulls: new Map([...memory.pulls].filter(([image]) => isImageOf(pod, image))),
    };
    const preparations =
      plan.sandbox && plan.steps.some(({ do: what }) => what === 'startContainer')
        ? [preparePodFiles(pod, context)]
        : [];
    return concat(
      ...preparations,
      ...plan.steps.map((step) => defer(() => performStep(step, pod, observed, memory, progress, context))),
    ).pipe(
      map((note): PlanProgress => ({ kind: 'note', note })),
      (notes$) =>
        concat(
          notes$,
          defer(() => of<PlanProgress>({ kind: 'done', failures: progress.failures, pulls: progress.pulls })),
        ),
    );
  });
}

function isImageOf({ spec }: Pod, image: string): boolean {
  return allContainers(spec).some((container) => withTag(container.image ?? '') === image);
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
      return runSandbox(pod, step.attempt, progress, context);
    case 'startContainer':
      return startContainer(pod, step.container, step.attempt, memory, progress, context).pipe(
        keepGoing(step.container, progress),
      );
    case 'startCreated':
      return startMade(pod, step.container, step.created, progress, context).pipe(keepGoing(step.container, progress));
    case 'removeContainer':
      return removeContainer(pod, step.container, step.keepLog === true, context);
    case 'removeSandbox':
      return optional(unlessGone(cri.removePodSandbox({ podSandboxId: step.sandbox.id })));
    default:
      return assertNever(step);
  }
}

function runSandbox(pod: Pod, attempt: number, progress: Progress, context: PerformContext): Observable<PodNote> {
  const { cri } = context;
  return concat(
    preparePodFiles(pod, context),
    configFor(pod, attempt, progress, context).pipe(
      concatMap((config) => cri.runPodSandbox({ config, runtimeHandler: '' })),
      tap(({ podSandboxId }) => {
        progress.sandboxId = podSandboxId ?? '';
        progress.attempt = attempt;
      }),
      concatMap(() => cri.podSandboxStatus({ podSandboxId: progress.sandboxId })),
      tap(({ status }) => {
        const { ip, additionalIps } = status?.network ?? {};
        progress.ips = [ip ?? '', ...(additionalIps ?? []).map((more) => more.ip ?? '')].filter(Boolean);
      }),
      ignoreElements(),
    ),
  );
}

function startContainer(
  pod: Pod,
  container: Container,
  attempt: number | undefined,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { cri, files } = context;
  const { name } = container;
  const image = withTag(container.image ?? '');
  return ensureImage(container, { ...memory, pulls: progress.pulls }, context.images).pipe(
    mergeMap((step): Observable<PodNote> => {
      switch (step.kind) {
        case 'note':
          return of({ ...step.note, container: name });
        case 'failedPull':
          progress.pulls.set(image, step.failure);
          return EMPTY;
        case 'image':
          progress.pulls.delete(image);
          return create(step.image);
      }
    }),
  );

  function create(local: LocalImage): Observable<PodNote> {
    const attempt$ = attempt === undefined ? nextAttemptByLogs(pod, name, context) : of(attempt);
    return attempt$.pipe(
      concatMap((restartCount) =>
        concat(
          files.makeDir(`${podLogDir(context.paths, pod.metadata)}/${name}`, 0o755).pipe(ignoreElements()),
          writeHosts(pod, progress.ips, context),
          makeTerminationLog(pod, name, context.random, context).pipe(
            concatMap((terminationLog) =>
              configFor(pod, progress.attempt, progress, context).pipe(
                concatMap((sandbox) =>
                  cri.createContainer({
                    podSandboxId: progress.sandboxId,
                    config: containerConfig(pod, container, restartCount, local, terminationLog, context),
                    sandboxConfig: sandbox,
                  }),
                ),
              ),
            ),
            catchError((error: unknown) => throwError(() => new StartError('CreateContainerError', messageOf(error)))),
            concatMap(({ containerId }) =>
              concat(
                of<PodNote>({ level: 'Normal', reason: 'Created', message: 'Container created', container: name }),
                startMade(
                  pod,
                  container,
                  { id: containerId ?? '', attempt: restartCount, annotations: {} },
                  progress,
                  context,
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
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
      catchError((error: unknown) => throwError(() => new StartError('RunContainerError', messageOf(error)))),
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
      keepsLog || log === '' ? EMPTY : files.removeFile(log).pipe(ignoreElements()),
    ),
  );
}

/** The sandbox's configuration goes along with every container, so it is the same in all calls of one plan. */
function configFor(
  pod: Pod,
  attempt: number,
  progress: Progress,
  context: PerformContext,
): Observable<PodSandboxConfig> {
  if (progress.config) return of(progress.config);
  return resolverOfNode(context).pipe(
    map((ofNode) => sandboxConfig(pod, attempt, ofNode, context)),
    tap((config) => {
      progress.config = config;
    }),
  );
}

/** Read anew for every sandbox: a laptop's resolver changes with its network. */
function resolverOfNode({ config, files }: PerformContext): Observable<DnsConfig> {
  if (config.resolvConf === '') return of({ servers: ['127.0.0.1'], searches: ['.'], options: [] });
  return files.readFile(config.resolvConf).pipe(map((text) => parseResolvConf(text ?? '')));
}

/** Turns what keeps one container from starting into a failure on record, so that the others get their turn. */
function keepGoing({ name }: Container, { failures }: Progress): (source$: Observable<PodNote>) => Observable<PodNote> {
  return catchError((error: unknown) => {
    const reason = error instanceof StartError ? error.reason : 'CreateContainerError';
    const message = messageOf(error);
    failures.set(name, { reason, message });
    if (reason === 'PostStartHookError') return EMPTY; // the hook's own note has told it
    return of<PodNote>({ level: 'Warning', reason: 'Failed', message: `Error: ${message}`, container: name });
  });
}

/** Tidying up that the next sync repeats; its failure must not keep a container from starting. */
function optional(work$: Observable<never>): Observable<never> {
  return work$.pipe(catchError(() => EMPTY));
}
