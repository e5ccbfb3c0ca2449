import { setTimeout as delay } from 'node:timers/promises';
import { median, timed } from './clock.ts';
import type { BenchRuntime, BarePod } from './runtime.ts';

/** Milliseconds after a step, so that the runtime has done all that follows from it. */
const CALM = { short: 1_000, long: 2_000 };
const KILLS = 5;

/** The bare calls for what an agent does in its story: how fast one could be on this runtime. Milliseconds. */
export async function measureFloor(runtime: BenchRuntime, count: number): Promise<Readonly<Record<string, number>>> {
  await runtime.wipe();
  let one: BarePod | undefined;
  const up_one = await timed(async () => {
    one = await runtime.startPod('bx');
  });
  await delay(CALM.short);

  let all: readonly BarePod[] = [];
  const up_all = await timed(async () => {
    all = await Promise.all(Array.from({ length: count }, (_, index) => runtime.startPod(`b${index}`)));
  });
  await delay(CALM.long);

  const reacts: number[] = [];
  const containers = new Map(all.map(({ sandboxId, containerId }) => [sandboxId, containerId]));
  for (let kill = 1; kill <= KILLS; kill++) {
    const pod = all[(kill * 7) % all.length];
    if (!pod) break;
    await runtime.stopContainer(containers.get(pod.sandboxId) ?? '', 0);
    const took = await timed(async () => {
      containers.set(pod.sandboxId, await runtime.startContainer(pod.config, pod.sandboxId, kill));
    });
    reacts.push(took);
  }

  const edit = await timed(async () => {
    await runtime.stopContainer(one?.containerId ?? '', 10);
    await runtime.stopSandbox(one?.sandboxId ?? '');
    await runtime.startPod('by');
  });
  await delay(CALM.short);

  const down_all = await timed(() => Promise.all([...containers.values()].map((id) => runtime.stopContainer(id, 10))));
  await runtime.wipe();
  return { up_one, up_all, react_p50: median(reacts) ?? 0, react_max: Math.max(...reacts), edit, down_all };
}
