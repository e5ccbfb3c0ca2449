import { readFileSync } from 'node:fs';
import { EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { PodUid } from '../../../../src/model/pod.ts';
import { agentMetrics, type AgentMetrics } from '../../../../src/server/metrics/agent-metrics.ts';
import { exposition } from '../../../../src/server/metrics/family.ts';
import { processFamilies } from '../../../../src/server/metrics/process-families.ts';
import { stateFamilies } from '../../../../src/server/metrics/state-families.ts';
import type { Exchange } from '../../../../src/server/route.ts';
import { volumeFamilies } from '../../../../src/server/stats/volume-families.ts';
import { emptyBook } from '../../../../src/streams/book/pod-book.ts';
import { parseExposition } from '../../../parse-exposition.ts';
import { NODE } from '../../cli/commands/views.ts';

const DOCS = readFileSync(new URL('../../../../docs/endpoints.md', import.meta.url), 'utf8');

/** `/metrics` of an agent that has done a bit of everything. */
function everything(): string {
  const metrics = agentMetrics();
  const uid = 'u' as PodUid;
  metrics.meter({ kind: 'criCall', operation: 'run_podsandbox', took: 1, outcome: 'failed' });
  for (const startedAt of [1_000, 2_000]) metrics.meter({ kind: 'relist', startedAt, took: 1, failed: false });
  metrics.meter({ kind: 'work', uid, operation: 'sync', took: 1 });
  metrics.meter({ kind: 'podStarted', uid, took: 1 });
  metrics.meter({ kind: 'pull', took: 1, size: 1 });
  metrics.meter({ kind: 'startFailed', container: 'container', code: 'ErrImagePull', took: 0 });
  metrics.imageGone({
    kind: 'removed',
    reason: 'age',
    image: { id: 'i', names: [], size: 1, pinned: false, held: false },
  });
  const pod = { uid, name: 'web', namespace: 'default' };
  metrics.trace({ kind: 'phase', pod, from: 'ended', to: 'waiting' });
  metrics.happened({ of: pod, note: { level: 'Warning', reason: 'Evicted', message: 'Usage of EmptyDir volume' } });
  metrics.trace({ kind: 'phase', pod, from: 'new', to: 'refused', why: 'OutOfcpu: x' });
  metrics.happened({ of: pod, note: { level: 'Warning', reason: 'Preempting', message: 'x' } });
  askOnce(metrics);
  const of = { uid, name: 'web', namespace: 'default' };
  metrics.happened({ of, note: { level: 'Normal', reason: 'Started', message: 'x', container: 'app' } });
  const book = emptyBook({ runtimeName: 'x', hostIps: [], update: 'prepare', statuses: new Map() });
  const state = { nodeName: 'a "node"', version: '1', view: NODE, book };
  const disk = { available: 1, capacity: 3, used: 2, inodes: 5, inodesFree: 4 };
  const volume = { name: 'v', claim: 'data', isEphemeral: false, disk, used: { bytes: 2, inodes: 1 } };
  const volumes = volumeFamilies(new Map([[uid, [volume]]]), book);
  return exposition([...metrics.families(), ...stateFamilies(state), ...volumes, ...processFamilies()]);
}

/** Asks on a route, as a client does. */
function askOnce({ http }: AgentMetrics): void {
  const [route] = http.metered([{ path: '/pods', access: 'node', answer: () => EMPTY }], 'local');
  route?.answer({ request: { method: 'GET' } } as unknown as Exchange).subscribe({
    error: (error: unknown) => {
      throw error;
    },
  });
}

describe('/metrics', () => {
  it('is what a strict reader of the format takes, each metric with a name that the docs explain', () => {
    const families = parseExposition(everything());
    expect(families.size).toBeGreaterThan(40);
    const unexplained = [...families.keys()].filter((name) => !name.startsWith('process_') && !DOCS.includes(name));
    expect(unexplained).toEqual([]);
    expect(families.get('kubelet_node_name')?.samples).toEqual([
      { name: 'kubelet_node_name', labels: { node: 'a "node"' }, value: 1 },
    ]);
    expect(families.get('process_open_fds')?.samples[0]?.value).toBeGreaterThan(0);
    expect(families.get('process_virtual_memory_bytes')?.samples[0]?.value).toBeGreaterThan(1e6);
  });
});
