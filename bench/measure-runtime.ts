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
  async function take(measured: Promise<Sample>): Promise<void> {
    const sample = await measured;
    samples.push(sample);
    tell(sample);
  }

  for (let repetition = 0; repetition < options.repetitions; repetition++) {
    for (const count of wanted('story', options, options.story)) {
      await take(measureFloor(runtime, count).then((values) => ({ part: 'story', agent: FLOOR, pods: count, values })));
      for (const kind of agents) await take(measureStory({ ...common, kind, count }));
    }
    for (const kind of agents) {
      if (options.parts.includes('start')) await take(measureStart(kind, runtime, SOCKET));
      for (const pods of wanted('idle', options, options.pods)) await take(measureIdle({ ...common, kind, pods }));
      if (options.parts.includes('load')) await take(measureLoad({ ...common, kind, pods: Math.max(...options.pods) }));
    }
  }
  const version = await runtime.version();
  runtime.close();
  return { runtime: process.env['RXLET_RUNTIME'] ?? '', version, samples };
}

function wanted(part: 'story' | 'idle', { parts }: BenchOptions, numbers: readonly number[]): readonly number[] {
  return parts.includes(part) ? numbers : [];
}
