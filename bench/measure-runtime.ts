import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentKind } from './agent-process.ts';
import { measureFloor } from './floor.ts';
import { measureIdle } from './idle.ts';
import { measureLoad } from './load.ts';
import type { BenchOptions } from './options.ts';
import { FLOOR, type RuntimeResult, type Sample } from './sample.ts';
import { benchRuntime } from './runtime.ts';
import { measureStart } from './start-up.ts';
import { measureStory } from './story.ts';

type About = Pick<Sample, 'part' | 'agent' | 'pods'>;

const SOCKET = '/run/containerd/containerd.sock';

/** Measures all that was asked for, on the private node that we are on; tells each repetition as it ends. */
export async function measureRuntime(
  options: BenchOptions,
  { home, node, tell }: { readonly home: string; readonly node: string; readonly tell: (sample: Sample) => void },
): Promise<RuntimeResult> {
  const runtime = await benchRuntime(SOCKET);
  const agents: readonly AgentKind[] = [
    { name: 'rxlet', script: join(home, 'bench/start-rxlet.sh') },
    ...options.agents,
  ];
  const runtimePid = Number(readFileSync(join(node, 'containerd.pid'), 'utf8'));
  const common = { runtime, socket: SOCKET, runtimePid, idle: options.idle, seconds: options.idle };
  const samples: Sample[] = [];
  /** A part that fails takes no other with it. */
  async function take(about: About, measure: () => Promise<Sample>): Promise<void> {
    const sample = await measure().catch((error: unknown): Sample => ({ ...about, values: {}, error: String(error) }));
    samples.push(sample);
    tell(sample);
  }

  for (let repetition = 0; repetition < options.repetitions; repetition++) {
    for (const pods of wanted('story', options, options.story)) {
      const about: About = { part: 'story', agent: FLOOR, pods };
      await take(about, async () => ({ ...about, values: await measureFloor(runtime, pods) }));
      for (const kind of agents)
        await take({ ...about, agent: kind.name }, () => measureStory({ ...common, kind, count: pods }));
    }
    for (const kind of agents) {
      const agent = kind.name;
      if (options.parts.includes('start'))
        await take({ part: 'start', agent, pods: 1 }, () => measureStart(kind, runtime, SOCKET));
      for (const pods of wanted('idle', options, options.pods))
        await take({ part: 'idle', agent, pods }, () => measureIdle({ ...common, kind, pods }));
      const most = Math.max(...options.pods);
      if (options.parts.includes('load'))
        await take({ part: 'load', agent, pods: most }, () => measureLoad({ ...common, kind, pods: most }));
    }
  }
  const version = await runtime.version();
  runtime.close();
  return { runtime: process.env['RXLET_RUNTIME'] ?? '', version, samples };
}

function wanted(part: 'story' | 'idle', { parts }: BenchOptions, numbers: readonly number[]): readonly number[] {
  return parts.includes(part) ? numbers : [];
}
