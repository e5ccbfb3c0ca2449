import { catchError, concat, concatMap, defer, endWith, forkJoin, map, take, throwError, type Observable } from 'rxjs';
import { configHash } from '../model/env/config-hash.ts';
import { hasSecretInCommand, withoutCommand } from '../model/env/secret-in-command.ts';
import { messageOf } from '../model/errors.ts';
import { podLogDir } from '../model/paths.ts';
import type { Container, Pod } from '../model/pod.ts';
import { rootProblem } from '../model/security/run-as.ts';
import { containerConfig } from './container-config.ts';
import type { LocalImage } from '../model/local-image.ts';
import type { RuntimeContext } from './context.ts';
import { StartError } from './ensure-image.ts';
import { environmentOf } from './environment.ts';
import { makeTerminationLog, writeHosts } from './pod-files.ts';
import type { SandboxPlan } from './sandbox-plan.ts';
import { prepareMounts } from './volumes/prepare-mounts.ts';

/** Where and from what a container is made. */
export interface Surroundings {
  readonly restartCount: number;
  readonly image: LocalImage;
  /** Of image volumes, by the volume. */
  readonly volumeImages: ReadonlyMap<string, string>;
  readonly sandboxId: string;
  /** Of the sandbox. */
  readonly ips: readonly string[];
  readonly sandbox$: Observable<SandboxPlan>;
}

/**
 * Makes a container, with the files that it finds in it. Emits its id once and completes; errors with a
 * {@link StartError}: CreateContainerConfigError where the pod asks for what cannot be, CreateContainerError where the
 * node or the runtime fails.
 */
export function makeContainer(
  pod: Pod,
  container: Container,
  around: Surroundings,
  context: RuntimeContext,
): Observable<string> {
  const { restartCount, image, volumeImages, sandboxId, ips, sandbox$ } = around;
  const { cri, files, facts, paths } = context;
  const { hostIps } = facts;
  // The runtime tells no address of a sandbox on the node's own network.
  const podIps = pod.spec.hostNetwork === true ? hostIps : ips;
  const logDir = `${podLogDir(paths, pod.metadata)}/${container.name}`;

  // Beside each other: none of them needs what another makes.
  const made$ = forkJoin({
    logs: files.makeDir(logDir, 0o755),
    hosts: writeHosts(pod, ips, context).pipe(endWith(undefined)),
    terminationLog: makeTerminationLog(pod, container.name, context.random, context),
    sandbox: sandbox$,
  });

  return concat(
    mayRun(pod, container, image),
    forkJoin([context.objects$.pipe(take(1)), environmentOf(pod, container, { podIps, hostIps }, context)]).pipe(
      concatMap(([objects, environment]) =>
        made$.pipe(
          concatMap(({ terminationLog, sandbox: { config: sandbox, userNamespace } }) => {
            const hash = configHash(pod, container, objects);
            const making = {
              restartCount,
              image,
              environment,
              terminationLog,
              ...(userNamespace && { userNamespace }),
              ...(hash !== undefined && { configHash: hash }),
            };
            const config = containerConfig(pod, container, making, context);
            return prepareMounts(pod, container, config, volumeImages, context).pipe(
              concatMap((complete) =>
                cri.createContainer({ podSandboxId: sandboxId, config: complete, sandboxConfig: sandbox }),
              ),
            );
          }),
        ),
      ),
    ),
  ).pipe(
    map(({ containerId }) => containerId ?? ''),
    catchError((error: unknown) =>
      throwError(() =>
        error instanceof StartError ? error : new StartError('CreateContainerError', complaintOf(error, container)),
      ),
    ),
  );
}

/** What an error says, as far as it can hold nothing that a Secret says. */
export function complaintOf(error: unknown, container: Container): string {
  return hasSecretInCommand(container) ? withoutCommand(messageOf(error)) : messageOf(error);
}

/** Completes, or errors where the container must not run as root and would. */
function mayRun(pod: Pod, container: Container, image: LocalImage): Observable<never> {
  return defer(() => {
    const problem = rootProblem(pod, container, image);
    return problem === undefined ? [] : throwError(() => new StartError('CreateContainerConfigError', problem));
  });
}
