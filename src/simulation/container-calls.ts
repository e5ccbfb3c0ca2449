import { defer, EMPTY, map, merge, mergeMap, take, throwError, timer, type Observable } from 'rxjs';
import type {
  CreateContainerRequest,
  CreateContainerResponse,
  ExecSyncRequest,
  ExecSyncResponse,
  StopContainerRequest,
} from '../model/cri/api.ts';
import { POD_UID } from '../model/cri/labels.ts';
import { RuntimeError } from '../model/errors.ts';
import type { Cri } from '../streams/ports/cri.ts';
import { containerMatches, containerStatus, listedContainer } from './answers.ts';
import { KILLED, type Machine } from './machine.ts';
import type { SimulatedContainer } from './node-objects.ts';
import { asks, DEADLINE, does, find, refusal, type RuntimeParts } from './runtime-parts.ts';
import { identityOf } from './sandbox-calls.ts';

type ContainerCalls = Pick<
  Cri,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'containerStatus'
  | 'listContainers'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'execSync'
>;

/** Milliseconds: longer ones would be none at all to a timer of Node. */
const LONGEST = 2 ** 31 - 1;

/** Stopping an unknown container is `notFound`, removing one is fine, as with containerd 1.6. */
export function containerCalls({ calls, machine, images, logs }: RuntimeParts): ContainerCalls {
  const { sandboxes, containers } = machine;

  function create({ podSandboxId, config }: CreateContainerRequest): CreateContainerResponse {
    const call = 'CreateContainer';
    const sandbox = find(call, sandboxes, podSandboxId);
    if (!config?.metadata?.name) throw refusal(call, 'a container needs a name');
    if (sandbox.state !== 'ready') throw refusal(call, `the sandbox ${sandbox.id} does not run`);

    const name = reservation(machine, { sandboxId: sandbox.id, config });
    const siblings = machine.ofPod(sandbox.config.metadata?.uid ?? '').flatMap(({ id }) => machine.inSandbox(id));
    const holder = siblings.find((other) => reservation(machine, other) === name);
    if (holder) throw refusal(call, `the name ${name} is held by ${holder.id}`);

    const reference = config.image?.image ?? '';
    const image = images.find(reference);
    if (!image?.id) throw new RuntimeError('notFound', call, `the image ${reference} is not on the node`);
    return { containerId: machine.addContainer(sandbox.id, config, image.id).id };
  }

  function start(containerId: string | undefined): void {
    const call = 'StartContainer';
    const { id, state, sandboxId } = find(call, containers, containerId);
    if (state !== 'created') throw refusal(call, `the container ${id} is ${state}`);
    if (sandboxes.get(sandboxId)?.state !== 'ready') throw refusal(call, `the sandbox ${sandboxId} does not run`);
    const { startError } = machine.scriptOf(id);
    if (startError === undefined) {
      machine.start(id);
      return;
    }
    machine.failStart(id, startError);
    throw refusal(call, startError);
  }

  /** SIGTERM, then SIGKILL when the grace (seconds) is over; who stops listening takes back only the SIGKILL. */
  function stop({ containerId, timeout = 0 }: StopContainerRequest): Observable<unknown> {
    const { id } = find('StopContainer', containers, containerId);
    const kill$ = timer(Math.min(timeout * 1_000, LONGEST)).pipe(
      mergeMap(() => {
        machine.exit(id, KILLED);
        return EMPTY;
      }),
    );
    if (timeout > 0) machine.terminate(id);
    else machine.exit(id, KILLED);
    return merge(machine.whenEnded(id), kill$).pipe(take(1));
  }

  function runningIn(call: string, containerId: string | undefined): SimulatedContainer {
    const container = find(call, containers, containerId);
    if (container.state !== 'running') throw refusal(call, `the container ${container.id} does not run`);
    return container;
  }

  function exec({ containerId, cmd = [], timeout = 0 }: ExecSyncRequest): Observable<ExecSyncResponse> {
    const { id } = runningIn('ExecSync', containerId);
    const { exitCode, stdout, stderr, after = 0 } = machine.scriptOf(id).exec?.(cmd) ?? { exitCode: 0 };
    if (timeout > 0 && after > timeout * 1_000) {
      const late = new RuntimeError('deadline', 'ExecSync', `the command did not end within ${timeout} s`);
      return timer(timeout * 1_000).pipe(mergeMap(() => throwError(() => late)));
    }
    return timer(after).pipe(
      map(() => ({ exitCode: exitCode || undefined, stdout: bytesOf(stdout), stderr: bytesOf(stderr) })),
    );
  }

  function candidates(labels: Readonly<Record<string, string>> = {}): readonly SimulatedContainer[] {
    const uid = labels[POD_UID];
    if (uid === undefined) return [...containers.values()];
    return machine.ofPod(uid).flatMap(({ id }) => machine.inSandbox(id));
  }

  return {
    createContainer: (request) => asks(calls, 'CreateContainer', request, () => create(request)),
    startContainer: (request) =>
      does(calls, 'StartContainer', request, () => {
        start(request.containerId);
      }),
    stopContainer: (request) => {
      const deadline = DEADLINE + (request.timeout ?? 0) * 1_000;
      return calls.call({
        name: 'StopContainer',
        request,
        deadline,
        effect: () => defer(() => stop(request)).pipe(map(() => undefined)),
      });
    },
    removeContainer: (request) =>
      does(calls, 'RemoveContainer', request, () => {
        machine.removeContainer(request.containerId ?? '');
      }),
    containerStatus: (request) =>
      asks(calls, 'ContainerStatus', request, () => {
        const container = find('ContainerStatus', containers, request.containerId);
        return { status: containerStatus(container, sandboxes.get(container.sandboxId)) };
      }),
    listContainers: (request) =>
      asks(calls, 'ListContainers', request, () => ({
        containers: candidates(request.filter?.labelSelector)
          .filter(containerMatches(request.filter))
          .map(listedContainer),
      })),
    updateContainerResources: (request) =>
      does(calls, 'UpdateContainerResources', request, () => {
        const { id, state } = find('UpdateContainerResources', containers, request.containerId);
        if (state === 'exited') throw refusal('UpdateContainerResources', `the container ${id} has ended`);
        machine.update(id, request.linux ?? {});
      }),
    reopenContainerLog: (request) =>
      does(calls, 'ReopenContainerLog', request, () => {
        const container = runningIn('ReopenContainerLog', request.containerId);
        logs.open(container, sandboxes.get(container.sandboxId));
      }),
    execSync: (request) => {
      // Without a timeout of its own a command may take for ever.
      const deadline = request.timeout ? { deadline: DEADLINE + request.timeout * 1_000 } : {};
      const call = { name: 'ExecSync', request, ...deadline };
      if (machine.scriptOf(request.containerId ?? '').exec)
        return calls.call({ ...call, effect: () => defer(() => exec(request)) });
      return calls.call<ExecSyncResponse>({
        ...call,
        act: () => {
          runningIn('ExecSync', request.containerId);
          return {};
        },
      });
    },
  };
}

/** The runtime lets no two containers have all of this in common (facts sheet 10.1). */
function reservation(
  { sandboxes }: Machine,
  { sandboxId, config: { metadata } }: Pick<SimulatedContainer, 'sandboxId' | 'config'>,
): string {
  const pod = identityOf(sandboxes.get(sandboxId)?.config.metadata);
  return [metadata?.name ?? '', pod, metadata?.attempt ?? 0].join('_');
}

function bytesOf(text: string | undefined): Uint8Array | undefined {
  return text === undefined || text === '' ? undefined : new TextEncoder().encode(text);
}
