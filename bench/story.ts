import { setTimeout as delay } from 'node:timers/promises';
import { startAgent, type AgentKind, type AgentProcess } from './agent-process.ts';
import { median, timed, until } from './clock.ts';
import { dropManifest, podName, removeManifest } from './manifests.ts';
import { ownCpu } from './process-cost.ts';
import type { Sample } from './sample.ts';
import type { BenchRuntime } from './runtime.ts';

export interface StoryConfig {
  readonly kind: AgentKind;
  readonly runtime: BenchRuntime;
  readonly socket: string;
  readonly runtimePid: number;
  /** Pods that are dropped together. */
  readonly count: number;
  /** Seconds. */
  readonly idle: number;
}

const KILLS = 5;

/**
 * A start with one manifest, one manifest dropped, many at once, idle time, containers killed, one edit, many removed:
 * how long each took until the runtime had it so. What was measured before something failed is kept.
 */
export async function measureStory(config: StoryConfig): Promise<Sample> {
  const { kind, runtime, socket, count } = config;
  await runtime.wipe();
  const values: Record<string, number> = {};
  const agent = startAgent(kind, socket, (folder) => {
    dropManifest(folder, { id: 'first' });
  });
  const sample = { part: 'story', agent: kind.name, pods: count, values } as const;
  try {
    await Promise.race([tell(config, agent, values), agent.failed]);
    return sample;
  } catch (error: unknown) {
    return { ...sample, error: error instanceof Error ? error.message : String(error) };
  } finally {
    await agent.stop();
    await runtime.wipe();
  }
}

async function tell(
  { runtime, runtimePid, count, idle }: StoryConfig,
  { manifests, cpu, memory, startedAt }: AgentProcess,
  values: Record<string, number>,
): Promise<void> {
  const running = (least: number) => () => runtime.running().then(({ length }) => length >= least);
  const numbers = Array.from({ length: count }, (_, index) => index);

  await until('the first pod to run', running(1));
  values['boot'] = Date.now() - startedAt;
  await delay(3_000);

  values['up_one'] = await timed(() => {
    dropManifest(manifests, { id: 'x' });
    return until('the second pod to run', running(2));
  });
  await delay(2_000);

  const before = cpu();
  values['up_all'] = await timed(() => {
    for (const id of numbers) dropManifest(manifests, { id });
    return until('all pods to run', running(count + 2));
  });
  await delay(3_000);
  values['up_all_cpu'] = cpu() - before;

  const [idleCpu, runtimeCpu] = [cpu(), ownCpu(runtimePid)];
  await delay(idle * 1_000);
  values['idle_cpu'] = ((cpu() - idleCpu) / idle) * 100;
  values['idle_runtime_cpu'] = ((ownCpu(runtimePid) - runtimeCpu) / idle) * 100;
  values['memory'] = memory();

  const reacts: number[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const took = await reaction(runtime, kill);
    if (took === undefined) break;
    reacts.push(took);
    await delay(300 + 177 * kill); // so that kills do not keep step with a poll of the agent
  }
  values['react_p50'] = median(reacts) ?? 0;
  values['react_max'] = Math.max(...reacts);

  const old = new Set((await runtime.containers()).map(({ id }) => id));
  values['edit'] = await timed(() => {
    dropManifest(manifests, { id: 'x', value: 'changed' });
    return until('the edited pod to run', async () =>
      (await runtime.running()).some(
        ({ id, labels }) => !old.has(id) && labels?.['io.kubernetes.pod.name']?.startsWith(podName('x')) === true,
      ),
    );
  });
  await delay(2_000);

  values['down_all'] = await timed(() => {
    for (const id of numbers) removeManifest(manifests, id);
    return until('the pods to end', async () => (await runtime.running()).length <= 2);
  });
}

/** Milliseconds from the death of a container to its successor; undefined where each has died once, and backs off. */
async function reaction(runtime: BenchRuntime, kill: number): Promise<number | undefined> {
  const first = (await runtime.running()).filter(({ metadata }) => (metadata?.attempt ?? 0) === 0);
  const victim = first[(kill * 7) % first.length];
  if (victim?.id === undefined) return undefined;
  const pid = await runtime.pidOf(victim.id);
  return timed(() => {
    process.kill(pid, 'SIGKILL');
    return until('a killed container to have a successor', async () =>
      (await runtime.running()).some(
        ({ id, podSandboxId }) => podSandboxId === victim.podSandboxId && id !== victim.id,
      ),
    );
  });
}
