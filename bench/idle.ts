import { setTimeout as delay } from 'node:timers/promises';
import { apiOf } from './agent-api.ts';
import { startAgent, type AgentKind } from './agent-process.ts';
import { until } from './clock.ts';
import { counted } from './counted.ts';
import { dropManifest } from './manifests.ts';
import type { Sample } from './sample.ts';
import type { BenchRuntime } from './runtime.ts';

export interface IdleConfig {
  readonly kind: AgentKind;
  readonly runtime: BenchRuntime;
  readonly socket: string;
  readonly pods: number;
  /** Seconds that are measured. */
  readonly seconds: number;
}

/** Milliseconds after which nothing follows from a start any more. */
const CALM = 10_000;

/** What an agent takes while nothing happens to its pods. */
export function measureIdle({ kind, runtime, socket, pods, seconds }: IdleConfig): Promise<Sample> {
  return counted({ part: 'idle', agent: kind.name, pods }, runtime, socket, (counter, values) => {
    const agent = startAgent(kind, counter.socket, (folder) => {
      for (let id = 0; id < pods; id++) dropManifest(folder, { id });
    });
    return {
      agent,
      async measure() {
        await until('all pods to run', async () => (await runtime.running()).length >= pods);
        await delay(CALM);
        const [cpu, calls] = [agent.cpu(), counter.calls().length];
        await delay(seconds * 1_000);
        const perMinute = 60 / seconds;
        values['cpu_per_minute'] = (agent.cpu() - cpu) * 1_000 * perMinute;
        values['calls_per_minute'] = (counter.calls().length - calls) * perMinute;
        values['memory'] = agent.memory();
        const heap = await heapOf(kind, agent);
        if (heap !== undefined) values['heap'] = heap / MIB;
      },
    };
  });
}

const MIB = 1024 * 1024;

/** Under the names that Prometheus' clients for Node and for Go use. */
async function heapOf(kind: AgentKind, agent: Parameters<typeof apiOf>[1]): Promise<number | undefined> {
  const api = apiOf(kind, agent);
  return (
    (await api?.metric('/metrics', 'nodejs_heap_size_used_bytes')) ??
    (await api?.metric('/metrics', 'go_memstats_heap_inuse_bytes'))
  );
}
