import { setTimeout as delay } from 'node:timers/promises';
import { apiOf } from './agent-api.ts';
import { startAgent } from './agent-process.ts';
import { until } from './clock.ts';
import { counted } from './counted.ts';
import { httpLoad } from './http-load.ts';
import type { IdleConfig } from './idle.ts';
import { dropManifest } from './manifests.ts';
import type { Sample } from './sample.ts';

const CALM = 10_000;
const REQUESTS_PER_SECOND = 50;
const PATHS = { pods: '/pods', metrics: '/metrics' } as const;

/** What an agent takes while it asks each pod twice a second how it is; then, while others ask it fifty times a second. */
export function measureLoad({ kind, runtime, socket, pods, seconds }: IdleConfig): Promise<Sample> {
  return counted({ part: 'load', agent: kind.name, pods }, runtime, socket, (counter, values) => {
    const agent = startAgent(kind, counter.socket, (folder) => {
      for (let id = 0; id < pods; id++) dropManifest(folder, { id, probed: true });
    });
    async function busy(name: string, work: () => Promise<unknown>): Promise<void> {
      const [begun, cpu] = [performance.now(), agent.cpu()];
      await work();
      values[`${name}_cpu`] = ((agent.cpu() - cpu) / (performance.now() - begun)) * 1_000 * 100;
    }
    return {
      agent,
      async measure() {
        await until('all pods to run', async () => (await runtime.running()).length >= pods);
        await delay(CALM);
        const api = apiOf(kind, agent);
        const probes = (): Promise<number | undefined> | undefined =>
          api?.metric('/metrics/probes', 'prober_probe_total', 'result="successful"');
        const [before, begun] = [await probes(), performance.now()];
        await busy('probes', () => delay(seconds * 1_000));
        const after = await probes();
        if (before !== undefined && after !== undefined)
          values['probes_per_second'] = ((after - before) / (performance.now() - begun)) * 1_000;
        values['memory'] = agent.memory();
        if (api === undefined) return;
        for (const [name, path] of Object.entries(PATHS)) {
          await busy(name, async () => {
            const found = await httpLoad(() => api.get(path), REQUESTS_PER_SECOND, seconds);
            for (const [figure, value] of Object.entries({ ...found })) values[`${name}_${figure}`] = value;
          });
        }
      },
    };
  });
}
