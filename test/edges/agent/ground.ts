import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

let bundle: string | undefined;
// Of a worker, not of a file: the next file finds it built.
process.once('exit', () => {
  if (bundle !== undefined) rmSync(bundle, { recursive: true });
});

/** A folder with the command as the sources are now. */
function built(): string {
  if (bundle !== undefined) return bundle;
  bundle = mkdtempSync(join(tmpdir(), 'rxlet-built-'));
  execFileSync(process.execPath, ['scripts/build.mjs', bundle]);
  chmodSync(bundle, 0o755);
  return bundle;
}

/** Far more than anything here should take, so that only what never comes fails. */
export const LIMIT = { timeout: 120_000, interval: 50 };

/** A user without any right of his own. */
const NOBODY = 65_534;

export interface Process {
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Exit code, once it has ended. */
  readonly ended: Promise<number | null>;
  /** All that it has written to standard output, and to standard error. */
  readonly output: () => string;
  readonly errors: () => string;
}

/** A pod as the agent tells it. */
export interface ToldPod {
  readonly phase: string;
  readonly containers: readonly { readonly name: string; readonly id: string; readonly restarts: number }[];
}

/** A folder with all that an agent and a runtime need, and a rxlet that was built for this. */
export interface Ground extends Disposable {
  readonly cri: string;
  readonly endpoint: string;
  readonly state: string;
  readonly start: (...argv: readonly string[]) => Process;
  /** The agent, whose calls to the runtime may take `requestTimeout` at most. */
  readonly startAgent: (requestTimeout?: string) => Process;
  /** Writes the manifest of a pod of one container. */
  readonly write: (name: string, command: readonly string[], spec?: object) => void;
  readonly remove: (name: string) => void;
  /** Answers of the agent's local API. */
  readonly get: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
  /** By name, without the node's; none while the agent does not answer. */
  readonly pods: () => Promise<Readonly<Record<string, ToldPod>>>;
  /** Waits until a pod runs, in another container than `before` where that is told, and resolves to it. */
  readonly running: (pod: string, before?: ToldPod) => Promise<ToldPod>;
}

/** Where the processes run as a user without rights, when the tests run as root. */
export function ground({ asNobody = false }: { readonly asNobody?: boolean } = {}): Ground {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-agent-'));
  mkdirSync(join(dir, 'manifests'));
  const user = asNobody && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) {
    chmodSync(dir, 0o755);
    chownSync(dir, user.uid, user.gid);
  }
  const cri = join(dir, 'cri.sock');
  const processes: Process[] = [];

  function start(...argv: readonly string[]): Process {
    const child = spawn(process.execPath, [join(built(), 'main.js'), ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const started: Process = {
      kill: (signal) => child.kill(signal),
      ended: new Promise((resolve) => child.once('close', resolve)),
      output: () => output,
      errors: () => errors,
    };
    processes.push(started);
    return started;
  }

  function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath: join(dir, 'rxlet.sock'), path, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  async function pods(): Promise<Readonly<Record<string, ToldPod>>> {
    const { text } = await get('/pods').catch(() => ({ text: '{"items":[]}' }));
    const { items } = JSON.parse(text) as { readonly items: readonly WirePod[] };
    return Object.fromEntries(
      items.map(({ metadata, status }) => [
        metadata.name.replace(/-here$/, ''),
        {
          phase: status.phase,
          containers: (status.containerStatuses ?? []).map(({ name, containerID = '', restartCount }) => ({
            name,
            id: containerID.replace(/^\w+:\/\//, ''),
            restarts: restartCount,
          })),
        },
      ]),
    );
  }

  return {
    cri,
    endpoint: `unix://${cri}`,
    state: join(dir, 'state.json'),
    start,
    startAgent: (requestTimeout = '30s') => {
      const config = {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        containerRuntimeEndpoint: `unix://${cri}`,
        staticPodPath: join(dir, 'manifests'),
        podLogsDir: join(dir, 'logs'),
        runtimeRequestTimeout: requestTimeout,
        healthzPort: 0,
        cgroupsPerQOS: false,
        enforceNodeAllocatable: [],
      };
      writeFileSync(join(dir, 'config.json'), JSON.stringify(config));
      const places = ['--root-dir', join(dir, 'root'), '--socket', join(dir, 'rxlet.sock')];
      return start('run', '--config', join(dir, 'config.json'), '--hostname-override', 'here', ...places);
    },
    write: (name, command, spec = {}) => {
      const container = { name: 'main', image: 'busybox', command };
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { terminationGracePeriodSeconds: 1, containers: [container], ...spec },
      };
      writeFileSync(join(dir, 'manifests', `${name}.json`), JSON.stringify(pod));
    },
    remove: (name) => {
      rmSync(join(dir, 'manifests', `${name}.json`));
    },
    get,
    pods,
    running: async (pod, before) => {
      let told: ToldPod | undefined;
      await expect
        .poll(async () => {
          told = (await pods())[pod];
          const id = told?.containers[0]?.id ?? '';
          return told?.phase === 'Running' && id !== '' && id !== before?.containers[0]?.id;
        }, LIMIT)
        .toBe(true);
      if (!told) throw new Error(`the pod ${pod} is gone again`);
      return told;
    },
    [Symbol.dispose]: () => {
      for (const each of processes) {
        each.kill('SIGCONT');
        each.kill('SIGKILL');
      }
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

interface WirePod {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly containerID?: string;
      readonly restartCount: number;
    }[];
  };
}
