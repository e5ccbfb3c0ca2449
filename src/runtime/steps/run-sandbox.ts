import { concat, concatMap, from, ignoreElements, merge, tap, type Observable } from 'rxjs';
import type { DnsProblem } from '../../model/dns.ts';
import { podIpsInOrder } from '../../model/pod-ips.ts';
import type { PodMemory } from '../../model/pod-memory.ts';
import type { Pod } from '../../model/pod.ts';
import type { PodNote } from '../../streams/workers/pod-work.ts';
import type { PerformContext } from '../perform-context.ts';
import { preparePodCgroup } from '../pod-cgroup.ts';
import { preparePodFiles } from '../pod-files.ts';
import { sandboxFor, type Progress } from './progress.ts';

/**
 * Makes the pod's cgroup, folders, volumes and sandbox. That there is no cluster to ask for names is told once of a pod,
 * when it has its first sandbox, and not at every try and with every later one.
 */
export function runSandbox(
  pod: Pod,
  attempt: number,
  memory: PodMemory,
  progress: Progress,
  context: PerformContext,
): Observable<PodNote> {
  const { cri } = context;
  return concat(
    merge(preparePodCgroup(pod, progress, context), preparePodFiles(pod, context, memory.mounts)),
    sandboxFor(pod, attempt, progress, context).pipe(
      concatMap(({ config, runtimeHandler, problems }) =>
        concat(
          from(problems.filter(({ reason }) => reason !== NO_CLUSTER).map(resolverNote)),
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
          from(problems.filter(({ reason }) => reason === NO_CLUSTER && attempt === 0).map(resolverNote)),
        ),
      ),
    ),
  );
}

const NO_CLUSTER: DnsProblem['reason'] = 'MissingClusterDNS';

/** A node on its own has no cluster whose names could be missed, so there is nothing to warn of. */
function resolverNote({ reason, message }: DnsProblem): PodNote {
  return { level: reason === NO_CLUSTER ? 'Normal' : 'Warning', reason, message };
}
