import { credentials, loadPackageDefinition, type Client, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ContainerConfig, PodSandboxConfig, RuntimeServiceCalls } from '../../../src/model/cri/api.ts';
import { RUNTIME_SOCKET } from './private-node.ts';
import { until } from './until.ts';

/** A container as the runtime tells it, in plain words. Names as in the manifest, without the node's. */
export interface SeenContainer {
  readonly id: string;
  readonly name: string;
  readonly pod: string;
  readonly uid: string;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

interface SeenSandbox {
  readonly id: string;
  readonly pod: string;
  readonly uid: string;
  readonly ready: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

interface ContainerTimes {
  /** Milliseconds since 1970; 0 while it has not happened. */
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  /** Of its first process, in the node's pid namespace; 0 once it has ended. */
  readonly pid: number;
}

/** The runtime seen with the tests' own eyes: a plain CRI client that shares no code with the agent's. */
export interface RuntimeLook {
  readonly containers: () => Promise<readonly SeenContainer[]>;
  readonly sandboxes: () => Promise<readonly SeenSandbox[]>;
  readonly times: (containerId: string) => Promise<ContainerTimes>;
  readonly ip: (sandboxId: string) => Promise<string>;
  /** What it was asked for when it made a sandbox, as it stored that. */
  readonly askedForSandbox: (podSandboxId: string) => Promise<PodSandboxConfig>;
  readonly askedForContainer: (containerId: string) => Promise<ContainerConfig>;
  /** Whether it can give pods users of their own, under its default handler. */
  readonly hasUserNamespaces: () => Promise<boolean>;
  /** The names of all images. */
  readonly images: () => readonly string[];
  /** Removes an ended container behind the agent's back, as `crictl rm` does. */
  readonly remove: (containerId: string) => Promise<void>;
  /** Creates the container again, as its agent would after its end, and does not start it: what a killed agent leaves. Resolves to its id. */
  readonly createAgain: (containerId: string) => Promise<string>;
  /** Creates it anew in its place, as it was, once it has ended, and does not start it. Resolves to its id. */
  readonly createInstead: (containerId: string) => Promise<string>;
  /** Ends and removes every pod. Takes a while after an agent was killed: containerd removes nothing that it is still starting. */
  readonly wipe: () => Promise<void>;
  readonly close: () => void;
}

const WIPED_AT_ONCE = 4;

interface Makings {
  readonly podSandboxId: string;
  readonly config: ContainerConfig;
  readonly sandboxConfig: PodSandboxConfig;
}

/** The host name that agents under test give themselves: it ends the names of static pods. */
export const HOST = 'node';

export function lookAtRuntime(): RuntimeLook {
  const client = connect();

  function call<Name extends keyof RuntimeServiceCalls>(
    name: Name,
    request: RuntimeServiceCalls[Name]['request'],
  ): Promise<RuntimeServiceCalls[Name]['answer']> {
    return new Promise((resolve, reject) => {
      const send = client[name];
      if (send === undefined) throw new Error(`no call ${name}`);
      send.call(client, request, { deadline: Date.now() + 60_000 }, (error, answer) => {
        if (error) reject(error);
        else resolve(answer as RuntimeServiceCalls[Name]['answer']);
      });
    });
  }

  async function sandboxes(): Promise<readonly SeenSandbox[]> {
    const { items = [] } = await call('ListPodSandbox', {});
    return items.map((item) => ({
      id: item.id ?? '',
      pod: withoutHost(item.metadata?.name),
      uid: item.metadata?.uid ?? '',
      ready: item.state !== 'SANDBOX_NOTREADY',
      createdAt: milliseconds(item.createdAt),
    }));
  }

  async function wipeOne(podSandboxId: string): Promise<void> {
    await call('StopPodSandbox', { podSandboxId });
    await call('RemovePodSandbox', { podSandboxId }).catch((error: unknown) => {
      // An agent that was killed in StartContainer leaves a task in containerd 2 of which its CRI knows nothing.
      removeTasks();
      throw error;
    });
  }

  async function containers(): Promise<readonly SeenContainer[]> {
    const { containers: found = [] } = await call('ListContainers', {});
    return found.map((container) => ({
      id: container.id ?? '',
      name: container.metadata?.name ?? '',
      pod: withoutHost(container.labels?.['io.kubernetes.pod.name']),
      uid: container.labels?.['io.kubernetes.pod.uid'] ?? '',
      sandboxId: container.podSandboxId ?? '',
      attempt: container.metadata?.attempt ?? 0,
      state: STATES[container.state ?? 'CONTAINER_CREATED'] ?? 'unknown',
      createdAt: milliseconds(container.createdAt),
    }));
  }

  /** What it was made from. */
  async function makings(containerId: string): Promise<Makings> {
    const { info } = await call('ContainerStatus', { containerId, verbose: true });
    const { config, sandboxID } = requested(info) as { readonly config: ContainerConfig; readonly sandboxID: string };
    const sandbox = await call('PodSandboxStatus', { podSandboxId: sandboxID, verbose: true });
    const { config: sandboxConfig } = requested(sandbox.info) as { readonly config: PodSandboxConfig };
    return { podSandboxId: sandboxID, config, sandboxConfig };
  }

  return {
    sandboxes,
    containers,
    async times(containerId) {
      const { status, info } = await call('ContainerStatus', { containerId, verbose: true });
      const details = JSON.parse(info?.['info'] ?? '{}') as { readonly pid?: number };
      return {
        startedAt: milliseconds(status?.startedAt),
        finishedAt: milliseconds(status?.finishedAt),
        exitCode: status?.exitCode ?? 0,
        pid: details.pid ?? 0,
      };
    },
    async ip(podSandboxId) {
      const { status } = await call('PodSandboxStatus', { podSandboxId });
      return status?.network?.ip ?? '';
    },
    async askedForSandbox(podSandboxId) {
      const { info } = await call('PodSandboxStatus', { podSandboxId, verbose: true });
      return (requested(info) as { readonly config: PodSandboxConfig }).config;
    },
    async askedForContainer(containerId) {
      const { info } = await call('ContainerStatus', { containerId, verbose: true });
      return (requested(info) as { readonly config: ContainerConfig }).config;
    },
    async hasUserNamespaces() {
      const { runtimeHandlers = [] } = await call('Status', {});
      return runtimeHandlers.some(({ name = '', features }) => name === '' && features?.userNamespaces === true);
    },
    images: () => ctr('images', 'ls', '-q').split('\n').filter(Boolean),
    async remove(containerId) {
      // For a moment after its end containerd may still hold its task, and refuses.
      await until('the container to be removed', async () => {
        await call('RemoveContainer', { containerId });
        return true;
      });
    },
    async createAgain(containerId) {
      const { podSandboxId, config, sandboxConfig } = await makings(containerId);
      const attempt = (config.metadata?.attempt ?? 0) + 1;
      const answer = await call('CreateContainer', {
        podSandboxId,
        config: {
          ...config,
          metadata: { ...config.metadata, attempt },
          annotations: { ...config.annotations, 'io.kubernetes.container.restartCount': String(attempt) },
          logPath: `${config.metadata?.name ?? ''}/${attempt}.log`,
        },
        sandboxConfig,
      });
      return answer.containerId ?? '';
    },
    async createInstead(containerId) {
      const asBefore = await makings(containerId);
      await until('it to have ended', async () =>
        (await containers()).some(({ id, state }) => id === containerId && state === 'exited'),
      );
      await call('RemoveContainer', { containerId });
      return (await call('CreateContainer', asBefore)).containerId ?? '';
    },
    async wipe() {
      await until('the runtime to be empty', async () => {
        const left = (await sandboxes()).map(({ id }) => id);
        async function wipeNext(): Promise<void> {
          for (let id = left.pop(); id !== undefined; id = left.pop()) await wipeOne(id);
        }
        await Promise.all(Array.from({ length: WIPED_AT_ONCE }, wipeNext));
        return true;
      });
    },
    close() {
      client.close();
    },
  };
}

function ctr(...args: readonly string[]): string {
  return execFileSync('ctr', ['-a', RUNTIME_SOCKET, '-n', 'k8s.io', ...args], { encoding: 'utf8', stdio: 'pipe' });
}

/** Ends every process that containerd holds, behind the back of its CRI. */
function removeTasks(): void {
  for (const id of ctr('tasks', 'ls', '-q').split('\n').filter(Boolean)) {
    try {
      ctr('tasks', 'rm', '-f', id);
    } catch {
      // It has gone by itself.
    }
  }
}

/** What containerd tells of a request that it once got, with the field names of today's. */
function requested(info: Readonly<Record<string, string>> | undefined): unknown {
  return JSON.parse((info?.['info'] ?? '{}').replace(/"[a-z]\w*":/g, camelCase));
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

type UnaryCall = (
  request: unknown,
  options: { readonly deadline: number },
  done: (error: ServiceError | null, answer: unknown) => void,
) => void;
type PlainClient = Pick<Client, 'close'> & Readonly<Record<string, UnaryCall | undefined>>;

function connect(): PlainClient {
  const file = fileURLToPath(new URL('../../../src/runtime/cri/api.proto', import.meta.url));
  const loaded = loadPackageDefinition(loadSync(file, { longs: Number, enums: String, arrays: true }));
  const { RuntimeService } = (loaded['runtime'] as { readonly v1: Readonly<Record<string, unknown>> }).v1;
  const Service = RuntimeService as new (
    address: string,
    credentials: unknown,
    options: Readonly<Record<string, number>>,
  ) => PlainClient;
  return new Service(`unix://${RUNTIME_SOCKET}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': 16 * 1024 * 1024,
    // The default of up to two minutes would make every look after a containerd restart fail for that long.
    'grpc.max_reconnect_backoff_ms': 500,
  });
}

const STATES: Readonly<Record<string, SeenContainer['state']>> = {
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
};

function withoutHost(name = ''): string {
  return name.endsWith(`-${HOST}`) ? name.slice(0, -HOST.length - 1) : name;
}

function milliseconds(nanoseconds = 0): number {
  return nanoseconds / 1e6;
}
