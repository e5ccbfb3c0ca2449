import { startAgent, type AgentKind } from './agent-process.ts';
import { apiOf } from './agent-api.ts';
import { until } from './clock.ts';
import { counted } from './counted.ts';
import { dropManifest } from './manifests.ts';
import type { Sample } from './sample.ts';
import type { BenchRuntime } from './runtime.ts';

/** From the start of the process to what an agent does first, with one manifest in its folder. Milliseconds. */
export function measureStart(kind: AgentKind, runtime: BenchRuntime, socket: string): Promise<Sample> {
  return counted({ part: 'start', agent: kind.name, pods: 1 }, runtime, socket, (counter, values) => {
    const agent = startAgent(kind, counter.socket, (folder) => {
      dropManifest(folder, { id: 'first' });
    });
    return {
      agent,
      async measure() {
        await until('the first pod to run', async () => (await runtime.running()).length >= 1);
        values['running'] = Date.now() - agent.startedAt;
        values['start_cpu'] = agent.cpu() * 1_000;
        const calls = counter.calls();
        const moments = {
          first_call: calls[0]?.at,
          first_sandbox: calls.find(({ path }) => path.endsWith('/RunPodSandbox'))?.at,
          sources_seen: await sourcesSeen(apiOf(kind, agent)?.get),
        };
        for (const [name, at] of Object.entries(moments)) if (at !== undefined) values[name] = at - agent.startedAt;
      },
    };
  });
}

/** When each source had told what it wants: rxlet's trace has it. Milliseconds since 1970. */
async function sourcesSeen(get: ((path: string) => Promise<string>) | undefined): Promise<number | undefined> {
  const text = (await get?.('/rxlet/trace').catch(() => '')) ?? '';
  return text
    .split('\n')
    .filter((line) => line.includes('"allSeen"'))
    .map((line) => (JSON.parse(line) as { readonly at: number }).at)[0];
}
