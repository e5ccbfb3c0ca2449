import { asyncScheduler } from 'rxjs';
import type { PodSandboxMetadata, RunPodSandboxRequest, RunPodSandboxResponse } from '../model/cri/api.ts';
import { POD_UID } from '../model/cri/labels.ts';
import type { Cri } from '../streams/ports/cri.ts';
import { containerStatus, listedSandbox, sandboxMatches, sandboxStatus } from './answers.ts';
import { KILLED } from './machine.ts';
import type { SimulatedSandbox } from './node-objects.ts';
import { asks, DEADLINE, does, find, refusal, type RuntimeParts } from './runtime-parts.ts';

type SandboxCalls = Pick<
  Cri,
  'runPodSandbox' | 'stopPodSandbox' | 'removePodSandbox' | 'podSandboxStatus' | 'listPodSandbox'
>;

/** Stopping an unknown sandbox is `notFound`, removing one is fine, as with containerd 1.6. */
export function sandboxCalls({ calls, machine, hasEvents, networkReady }: RuntimeParts): SandboxCalls {
  const { sandboxes, inSandbox } = machine;

  function run({ config, runtimeHandler = '' }: RunPodSandboxRequest): RunPodSandboxResponse {
    const call = 'RunPodSandbox';
    if (!config?.metadata?.name || !config.metadata.uid) throw refusal(call, 'a sandbox needs a name and a UID');
    const name = reservation(config.metadata);
    const holder = machine.ofPod(config.metadata.uid).find((other) => reservation(other.config.metadata) === name);
    if (holder) throw refusal(call, `the name ${name} is held by ${holder.id}`);
    if (!networkReady() && !isOnHost(config)) throw refusal(call, 'the network is not ready');
    return { podSandboxId: machine.addSandbox(config, runtimeHandler).id };
  }

  function candidates(labels: Readonly<Record<string, string>> = {}): readonly SimulatedSandbox[] {
    const uid = labels[POD_UID];
    return uid === undefined ? [...sandboxes.values()] : machine.ofPod(uid);
  }

  return {
    runPodSandbox: (request) => asks(calls, 'RunPodSandbox', request, () => run(request), 2 * DEADLINE),
    stopPodSandbox: (request) =>
      does(calls, 'StopPodSandbox', request, () => {
        const { id } = find('StopPodSandbox', sandboxes, request.podSandboxId);
        for (const container of inSandbox(id)) machine.exit(container.id, KILLED);
        machine.stopSandbox(id);
      }),
    removePodSandbox: (request) =>
      does(calls, 'RemovePodSandbox', request, () => {
        const { podSandboxId: id = '' } = request;
        for (const container of inSandbox(id)) machine.removeContainer(container.id);
        machine.stopSandbox(id);
        machine.removeSandbox(id);
      }),
    podSandboxStatus: (request) =>
      asks(calls, 'PodSandboxStatus', request, () => {
        const sandbox = find('PodSandboxStatus', sandboxes, request.podSandboxId);
        const containersStatuses = hasEvents ? inSandbox(sandbox.id).map((each) => containerStatus(each, sandbox)) : [];
        return { status: sandboxStatus(sandbox), containersStatuses, timestamp: asyncScheduler.now() * 1e6 };
      }),
    listPodSandbox: (request) =>
      asks(calls, 'ListPodSandbox', request, () => ({
        items: candidates(request.filter?.labelSelector).filter(sandboxMatches(request.filter)).map(listedSandbox),
      })),
  };
}

/** Who a pod is, whatever the attempt. */
export function identityOf({ name = '', namespace = '', uid = '' }: PodSandboxMetadata = {}): string {
  return [name, namespace, uid].join('_');
}

/** The runtime lets no two sandboxes have all of this in common (facts sheet 10.1). */
function reservation(metadata: PodSandboxMetadata = {}): string {
  return `${identityOf(metadata)}_${metadata.attempt ?? 0}`;
}

function isOnHost(config: SimulatedSandbox['config']): boolean {
  return config.linux?.securityContext?.namespaceOptions?.network === 'NODE';
}
