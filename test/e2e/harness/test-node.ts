import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, onTestFinished } from 'vitest';
import { startAgent, type Agent, type AgentPaths, type Exit } from './agent.ts';
import { servedPods, servedProblems, servedView, type ServedPod } from './local-api.ts';
import type { Problem } from '../../../src/model/desired.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';
import { mountsBelow } from './mounts-below.ts';
import { nodeFolder } from './private-node.ts';
import { HOST, lookAtRuntime, type RuntimeLook, type SeenContainer } from './runtime-look.ts';
import { HopelessError, until } from './until.ts';

/** A node of its own for one test: an empty manifest folder, an empty root folder, no pods in the runtime, no agent yet. */
export interface TestNode {
  readonly paths: AgentPaths;
  readonly runtime: RuntimeLook;
  /** Puts a manifest in place as editors do: written beside, then renamed. */
  readonly dropManifest: (file: string, text: string) => void;
  readonly removeManifest: (file: string) => void;
  /** Starts the agent; resolves when its local API answers. */
  readonly start: (...flags: readonly string[]) => Promise<void>;
  /** Signals the agent and waits for its end. */
  readonly signal: (signal: NodeJS.Signals) => Promise<Exit>;
  readonly pods: () => Promise<readonly ServedPod[]>;
  readonly pod: (name: string) => Promise<ServedPod | undefined>;
  readonly problems: () => Promise<readonly Problem[]>;
  /** What `rxlet ps` shows. */
  readonly view: () => Promise<NodeView>;
  /** What the agents of this node have logged so far. */
  readonly log: () => string;
  readonly running: (pod: string) => Promise<readonly SeenContainer[]>;
  /** Resolves to the one running container of a pod, once there is exactly one. */
  readonly whenRunning: (pod: string, accept?: (container: SeenContainer) => boolean) => Promise<SeenContainer>;
  /** Resolves once the runtime holds nothing of a pod. */
  readonly whenGone: (pod: string) => Promise<void>;
}

/** Made at the start of a test, removed at its end. When the test fails, the agent's log and what the runtime holds are printed. */
export async function testNode(): Promise<TestNode> {
  const { node, end } = await makeNode();
  onTestFinished(({ task }) => end(task.result?.state === 'fail'));
  return node;
}

/** One node with a running agent for all tests of a file, each with pods of its own, so that they can run side by side. */
export function sharedNode(...flags: readonly string[]): () => TestNode {
  let made: MadeNode | undefined;
  let hasFailed = false;
  beforeAll(async () => {
    made = await makeNode();
    await made.node.start(...flags);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    await made?.end(hasFailed);
  });
  return () => {
    if (!made) throw new Error('the node is there only inside of tests');
    return made.node;
  };
}

interface MadeNode {
  readonly node: TestNode;
  readonly end: (hasFailed: boolean) => Promise<void>;
}

async function makeNode(): Promise<MadeNode> {
  const base = mkdtempSync(join(nodeFolder(), 'test-'));
  const paths: AgentPaths = {
    manifests: join(base, 'manifests'),
    root: join(base, 'root'),
    socket: join(base, 'rxlet.sock'),
    log: join(base, 'agent.log'),
  };
  mkdirSync(paths.manifests);
  const runtime = lookAtRuntime();
  let agent: Agent | undefined;

  function log(): string {
    return existsSync(paths.log) ? readFileSync(paths.log, 'utf8') : '';
  }

  async function end(hasFailed: boolean): Promise<void> {
    if (hasFailed) {
      const left = [...(await runtime.sandboxes()), ...(await runtime.containers())];
      console.error(
        `--- the agent's log\n${log()}--- the runtime\n${left.map((thing) => JSON.stringify(thing)).join('\n')}\n---`,
      );
    }
    if (agent && !agent.hasEnded()) await agent.signal('SIGKILL');
    await runtime.wipe();
    runtime.close();
    // Volumes of pods that no agent is left to clean up.
    for (const target of mountsBelow(base).toReversed()) execFileSync('umount', ['-l', target]);
    rmSync(base, { recursive: true, force: true });
  }
  await runtime.wipe();

  let signalled = false;
  /** No pod changes once the agent has gone by itself, so nobody need wait for that. */
  function expectAgent(): void {
    if (agent?.hasEnded() === true && !signalled) throw new HopelessError('the agent has ended by itself');
  }

  async function running(pod: string): Promise<readonly SeenContainer[]> {
    expectAgent();
    return (await runtime.containers()).filter((container) => container.pod === pod && container.state === 'running');
  }

  async function pods(): Promise<readonly ServedPod[]> {
    expectAgent();
    return servedPods(paths.socket);
  }

  const node: TestNode = {
    paths,
    runtime,
    running,
    pods,
    dropManifest(file, text) {
      const beside = join(paths.manifests, `.${file}.new`);
      writeFileSync(beside, text);
      renameSync(beside, join(paths.manifests, file));
    },
    removeManifest(file) {
      rmSync(join(paths.manifests, file));
    },
    async start(...flags) {
      agent = startAgent(paths, flags);
      signalled = false;
      await until('the agent to serve its local API', pods);
    },
    async signal(signal) {
      if (agent === undefined) throw new Error('no agent was started');
      signalled = true;
      return agent.signal(signal);
    },
    async pod(name) {
      return (await pods()).find(({ metadata }) => metadata.name === `${name}-${HOST}`);
    },
    problems: () => servedProblems(paths.socket),
    view: () => servedView(paths.socket),
    log,
    whenRunning: (pod, accept = () => true) =>
      until(`one running container of ${pod}`, async () => {
        const [first, ...others] = await running(pod);
        return first !== undefined && others.length === 0 && accept(first) && first;
      }),
    async whenGone(pod) {
      await until(`nothing to be left of ${pod}`, async () => {
        expectAgent();
        const left = [...(await runtime.sandboxes()), ...(await runtime.containers())];
        return !left.some((thing) => thing.pod === pod);
      });
    },
  };
  return { node, end };
}
