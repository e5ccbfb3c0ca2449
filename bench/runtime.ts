import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catchError, concat, firstValueFrom, last, of } from 'rxjs';
import type { Container, PodSandboxConfig } from '../src/model/cri/api.ts';
import { connectCri } from '../src/runtime/cri/connect-cri.ts';
import type { Cri } from '../src/streams/ports/cri.ts';
import { until } from './clock.ts';
import { COMMAND, IMAGE, NAMESPACE } from './manifests.ts';

/** A pod that the bench itself has started. */
export interface BarePod {
  readonly config: PodSandboxConfig;
  readonly sandboxId: string;
  readonly containerId: string;
}

/** The runtime as a plain client has it: the bare calls, and a look at what runs. Only pods of the bench's namespace are seen. */
export interface BenchRuntime {
  /** As `containerd v2.1.9`. */
  readonly version: () => Promise<string>;
  readonly containers: () => Promise<readonly Container[]>;
  readonly running: () => Promise<readonly Container[]>;
  /** Sandbox, create, start: the calls that one pod with one container costs. */
  readonly startPod: (name: string) => Promise<BarePod>;
  /** Create and start; resolves to the new container's id. */
  readonly startContainer: (config: PodSandboxConfig, sandboxId: string, attempt: number) => Promise<string>;
  /** `grace` in seconds. */
  readonly stopContainer: (id: string, grace: number) => Promise<void>;
  readonly stopSandbox: (id: string) => Promise<void>;
  /** Of the first process of a container, as the bench sees it. */
  readonly pidOf: (containerId: string) => Promise<number>;
  /** Ends and removes all pods of the bench. */
  readonly wipe: () => Promise<void>;
  readonly close: () => void;
}

/** Milliseconds that a call may take that has no limit of its own. */
const REQUEST_TIMEOUT = 120_000;

export async function benchRuntime(socket: string): Promise<BenchRuntime> {
  const endpoint = `unix://${socket}`;
  const { cri, close } = await connected(endpoint);

  async function containers(): Promise<readonly Container[]> {
    const { containers: all = [] } = await firstValueFrom(cri.listContainers({}));
    return all.filter(({ labels }) => labels?.['io.kubernetes.pod.namespace'] === NAMESPACE);
  }

  async function startContainer(
    sandboxConfig: PodSandboxConfig,
    podSandboxId: string,
    attempt: number,
  ): Promise<string> {
    const config = {
      metadata: { name: 'c', attempt },
      image: { image: IMAGE },
      command: COMMAND,
      labels: { 'io.kubernetes.pod.namespace': NAMESPACE },
      logPath: `c${attempt}.log`,
      linux: {},
    };
    const { containerId = '' } = await firstValueFrom(cri.createContainer({ podSandboxId, sandboxConfig, config }));
    await firstValueFrom(cri.startContainer({ containerId }));
    return containerId;
  }

  return {
    containers,
    startContainer,
    close,
    async version() {
      const { runtimeName = '', runtimeVersion = '' } = await firstValueFrom(cri.version());
      return `${runtimeName} ${runtimeVersion}`;
    },
    running: async () => (await containers()).filter(({ state }) => state === 'CONTAINER_RUNNING'),
    async startPod(name) {
      const config = sandboxConfig(name);
      const { podSandboxId: sandboxId = '' } = await firstValueFrom(cri.runPodSandbox({ config }));
      return { config, sandboxId, containerId: await startContainer(config, sandboxId, 0) };
    },
    async stopContainer(containerId, timeout) {
      await firstValueFrom(cri.stopContainer({ containerId, timeout }));
    },
    async stopSandbox(podSandboxId) {
      await firstValueFrom(cri.stopPodSandbox({ podSandboxId }));
    },
    async pidOf(containerId) {
      const { info } = await firstValueFrom(cri.containerStatus({ containerId, verbose: true }));
      return (JSON.parse(info?.['info'] ?? '{}') as { readonly pid?: number }).pid ?? 0;
    },
    async wipe() {
      // What an agent was about to start when it was killed can be removed only once it has been started.
      await until('the runtime to be empty', async () => {
        const { items = [] } = await firstValueFrom(cri.listPodSandbox({}));
        const left = items.filter(({ metadata }) => metadata?.namespace === NAMESPACE);
        for (const { id: podSandboxId = '' } of left) {
          await firstValueFrom(
            concat(cri.stopPodSandbox({ podSandboxId }), cri.removePodSandbox({ podSandboxId })).pipe(
              last(),
              catchError(() => of(undefined)),
            ),
          );
        }
        return left.length === 0;
      });
    },
  };
}

function connected(endpoint: string): Promise<{ readonly cri: Cri; readonly close: () => void }> {
  return new Promise((resolve, reject) => {
    const config = { runtimeEndpoint: endpoint, imageEndpoint: endpoint, requestTimeout: REQUEST_TIMEOUT };
    const held = connectCri(config).subscribe({
      next: (cri) => {
        resolve({
          cri,
          close: () => {
            held.unsubscribe();
          },
        });
      },
      error: reject,
    });
  });
}

function sandboxConfig(name: string): PodSandboxConfig {
  return {
    metadata: { name, uid: `uid-${name}`, namespace: NAMESPACE, attempt: 0 },
    labels: { 'io.kubernetes.pod.namespace': NAMESPACE, 'io.kubernetes.pod.name': name },
    logDirectory: mkdtempSync(join(tmpdir(), 'rxlet-bench-logs-')),
    linux: { securityContext: { namespaceOptions: {} } },
  };
}
