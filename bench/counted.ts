import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentProcess } from './agent-process.ts';
import { criCounter, type CriCounter } from './cri-counter.ts';
import type { Sample } from './sample.ts';
import type { BenchRuntime } from './runtime.ts';

/** A counter, and where it is reached. */
export interface ReachedCounter extends CriCounter {
  readonly socket: string;
}

interface Life {
  readonly agent: AgentProcess;
  readonly measure: () => Promise<void>;
}

/**
 * One life of an agent whose calls to the runtime are counted, from an empty runtime to an empty runtime. What it has
 * measured before something failed is kept.
 */
export async function counted(
  about: Pick<Sample, 'part' | 'agent' | 'pods'>,
  runtime: BenchRuntime,
  runtimeSocket: string,
  begin: (counter: ReachedCounter, values: Record<string, number>) => Life,
): Promise<Sample> {
  await runtime.wipe();
  const socket = join(process.env['RXLET_NODE'] ?? tmpdir(), 'bench.sock');
  rmSync(socket, { force: true });
  const counter = await criCounter(socket, runtimeSocket);
  const values: Record<string, number> = {};
  const { agent, measure } = begin({ ...counter, socket }, values);
  try {
    await Promise.race([measure(), agent.failed]);
    return { ...about, values };
  } catch (error: unknown) {
    return { ...about, values, error: error instanceof Error ? error.message : String(error) };
  } finally {
    await agent.stop();
    counter.close();
    await runtime.wipe();
  }
}
