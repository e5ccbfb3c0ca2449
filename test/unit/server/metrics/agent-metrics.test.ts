import { describe, expect, it } from 'vitest';
import type { PodUid } from '../../../../src/model/pod.ts';
import { agentMetrics, type AgentMetrics } from '../../../../src/server/metrics/agent-metrics.ts';
import { exposition } from '../../../../src/server/metrics/family.ts';
import { parseExposition, type ParsedSample } from '../../../parse-exposition.ts';

const UID = 'u-1' as PodUid;
const PROBE = { kind: 'probe', probe: 'readiness', took: 20, uid: UID, namespace: 'default', pod: 'web' } as const;

function told(metrics: AgentMetrics, name: string): readonly ParsedSample[] {
  const families = [...metrics.families(), ...metrics.probeFamilies()];
  const samples = [...parseExposition(exposition(families)).values()].flatMap((family) => family.samples);
  return samples.filter((sample) => sample.name === name);
}

function value(metrics: AgentMetrics, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const matches = told(metrics, name).filter((sample) =>
    Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  return matches.length === 1 ? matches[0]?.value : undefined;
}

describe('agentMetrics', () => {
  it('counts calls to the runtime by kind, in seconds', () => {
    const metrics = agentMetrics();
    metrics.meter({ kind: 'criCall', operation: 'list_containers', took: 30, outcome: 'done' });
    metrics.meter({ kind: 'criCall', operation: 'list_containers', took: 20, outcome: 'failed' });
    const labels = { operation_type: 'list_containers' };
    expect(value(metrics, 'kubelet_runtime_operations_total', labels)).toBe(2);
    expect(value(metrics, 'kubelet_runtime_operations_errors_total', labels)).toBe(1);
    expect(value(metrics, 'kubelet_runtime_operations_duration_seconds_sum', labels)).toBeCloseTo(0.05);
    expect(value(metrics, 'kubelet_runtime_operations_duration_seconds_bucket', { ...labels, le: '0.03125' })).toBe(2);
  });

  it('counts sandboxes as pods that were started, or that could not be', () => {
    const metrics = agentMetrics();
    expect(value(metrics, 'kubelet_started_pods_total')).toBe(0);
    metrics.meter({ kind: 'criCall', operation: 'run_podsandbox', took: 300, outcome: 'done' });
    metrics.meter({ kind: 'criCall', operation: 'run_podsandbox', took: 300, outcome: 'failed' });
    expect(value(metrics, 'kubelet_started_pods_total')).toBe(1);
    expect(value(metrics, 'kubelet_started_pods_errors_total')).toBe(1);
    expect(value(metrics, 'kubelet_started_containers_total', { container_type: 'pod_sandbox' })).toBe(1);
    expect(value(metrics, 'kubelet_run_podsandbox_duration_seconds_count')).toBe(2);
  });

  it('tells relists, the time between them and when the last one succeeded', () => {
    const metrics = agentMetrics();
    expect(told(metrics, 'kubelet_pleg_last_seen_seconds')).toEqual([]);
    metrics.meter({ kind: 'relist', startedAt: 1_000_000, took: 7, failed: false });
    metrics.meter({ kind: 'relist', startedAt: 1_001_500, took: 7, failed: true });
    expect(value(metrics, 'kubelet_pleg_relist_duration_seconds_count')).toBe(2);
    expect(value(metrics, 'kubelet_pleg_relist_interval_seconds_sum')).toBe(1.5);
    expect(value(metrics, 'kubelet_pleg_last_seen_seconds')).toBe(1_000);
  });

  it('does not let a clock that is set back break the time between relists', () => {
    const metrics = agentMetrics();
    metrics.meter({ kind: 'relist', startedAt: 2_000_000, took: 7, failed: false });
    metrics.meter({ kind: 'relist', startedAt: 1_000_000, took: 7, failed: false });
    expect(value(metrics, 'kubelet_pleg_relist_interval_seconds_sum')).toBe(0);
  });

  it.each([
    [0, 'N/A'],
    [1, '0-10MB'],
    [10 * 2 ** 20, '10MB-100MB'],
    [300 * 2 ** 20, '100MB-500MB'],
    [2 ** 30, '1GB-5GB'],
    [200 * 2 ** 30, 'GT100GB'],
  ])('tells a pull of %i bytes under %s', (size, label) => {
    const metrics = agentMetrics();
    metrics.meter({ kind: 'pull', took: 1_500, size });
    expect(value(metrics, 'kubelet_image_pull_duration_seconds_sum', { image_size_in_bytes: label })).toBe(1.5);
  });

  it('counts started containers by their kind', () => {
    const metrics = agentMetrics();
    const pod = {
      metadata: { name: 'web' },
      spec: { initContainers: [{ name: 'setup' }], containers: [{ name: 'app' }] },
    } as unknown as NonNullable<Parameters<AgentMetrics['happened']>[0]['pod']>;
    const of = { uid: UID, name: 'web', namespace: 'default' };
    for (const container of ['setup', 'app', 'app']) {
      metrics.happened({
        of,
        pod,
        note: { level: 'Normal', reason: 'Started', message: 'Container started', container },
      });
    }
    metrics.happened({ of, pod, note: { level: 'Warning', reason: 'BackOff', message: 'x', container: 'app' } });
    expect(value(metrics, 'kubelet_started_containers_total', { container_type: 'init_container' })).toBe(1);
    expect(value(metrics, 'kubelet_started_containers_total', { container_type: 'container' })).toBe(2);
    expect(value(metrics, 'rxlet_events_total', { reason: 'BackOff', type: 'Warning' })).toBe(1);
  });

  it('counts starts that failed by their kind and why, and pods that began anew under their UID', () => {
    const metrics = agentMetrics();
    expect(value(metrics, 'kubelet_restarted_pods_total')).toBe(0);
    metrics.meter({ kind: 'startFailed', container: 'init_container', code: 'ErrImagePull', took: 0 });
    const pod = { uid: UID, name: 'web', namespace: 'default' };
    metrics.trace({ kind: 'phase', pod, from: 'ended', to: 'waiting' });
    metrics.trace({ kind: 'phase', pod, from: 'ended', to: 'gone' });
    metrics.trace({ kind: 'phase', pod, from: 'waiting', to: 'syncing' });
    const labels = { container_type: 'init_container', code: 'ErrImagePull' };
    expect(value(metrics, 'kubelet_started_containers_errors_total', labels)).toBe(1);
    expect(value(metrics, 'kubelet_restarted_pods_total', { static: 'true' })).toBe(1);
  });

  it.each([
    ['Usage of EmptyDir volume "e" exceeds the limit "1Mi". ', 'emptydirfs.limit'],
    ['Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ', 'ephemeralpodfs.limit'],
    ['Container c exceeded its local ephemeral storage limit "1Mi". ', 'ephemeralcontainerfs.limit'],
  ])('counts an eviction for %j under %s', (message, signal) => {
    const metrics = agentMetrics();
    const of = { uid: UID, name: 'web', namespace: 'default' };
    metrics.happened({ of, note: { level: 'Warning', reason: 'Evicted', message } });
    expect(value(metrics, 'kubelet_evictions', { eviction_signal: signal })).toBe(1);
  });

  it('counts pods that the node did not take, by why, and those that had to make room', () => {
    const metrics = agentMetrics();
    const pod = { uid: UID, name: 'web', namespace: 'default' };
    metrics.trace({ kind: 'phase', pod, from: 'new', to: 'refused', why: 'OutOfcpu: Node did not have enough: cpu' });
    metrics.happened({ of: pod, note: { level: 'Warning', reason: 'Preempting', message: 'x' } });
    expect(value(metrics, 'kubelet_admission_rejections_total', { reason: 'OutOfcpu' })).toBe(1);
    expect(value(metrics, 'kubelet_preemptions')).toBe(1);
  });

  it('counts the containers of pods that were begun', () => {
    const metrics = agentMetrics();
    for (const containers of [1, 1, 3]) metrics.meter({ kind: 'podBegun', containers, took: 0 });
    expect(value(metrics, 'kubelet_containers_per_pod_count_bucket', { le: '1' })).toBe(2);
    expect(value(metrics, 'kubelet_containers_per_pod_count_sum')).toBe(5);
  });

  it('measures work on cgroups, by what it was', () => {
    const metrics = agentMetrics();
    metrics.meter({ kind: 'cgroup', operation: 'create', took: 20 });
    metrics.meter({ kind: 'cgroup', operation: 'destroy', took: 40 });
    const name = 'kubelet_cgroup_manager_duration_seconds';
    expect(value(metrics, `${name}_sum`, { operation_type: 'create' })).toBe(0.02);
    expect(value(metrics, `${name}_bucket`, { operation_type: 'destroy', le: '0.05' })).toBe(1);
  });

  it('tells of the last search for folders of unknown pods how many it found, and how many stayed', () => {
    const metrics = agentMetrics();
    const [found, failed] = ['kubelet_orphan_pod_cleaned_volumes', 'kubelet_orphan_pod_cleaned_volumes_errors'];
    expect([value(metrics, found), value(metrics, failed)]).toEqual([0, 0]);
    metrics.meter({ kind: 'sweep', found: 3, failed: 2, took: 5 });
    metrics.meter({ kind: 'sweep', found: 2, failed: 1, took: 5 });
    expect([value(metrics, found), value(metrics, failed)]).toEqual([2, 1]);
  });

  it('counts images that were removed, by why', () => {
    const metrics = agentMetrics();
    const image = { id: 'i', names: [], size: 1, pinned: false, held: false };
    metrics.imageGone({ kind: 'removed', reason: 'space', image });
    metrics.imageGone({ kind: 'trouble', reason: 'ImageGCFailed', message: 'x', isEvent: true });
    expect(told(metrics, 'kubelet_image_garbage_collected_total')).toEqual([
      expect.objectContaining({ labels: { reason: 'space' }, value: 1 }),
    ]);
  });

  it('counts the answers to probes until the pod is forgotten', () => {
    const metrics = agentMetrics();
    for (const result of ['failed', 'successful', 'successful'] as const) {
      metrics.meter({ ...PROBE, container: 'app', result });
    }
    metrics.meter({ ...PROBE, uid: 'other' as PodUid, container: 'app', result: 'unknown' });
    const whose = { probe_type: 'Readiness', container: 'app', pod: 'web', namespace: 'default', pod_uid: UID };
    expect(value(metrics, 'prober_probe_total', { ...whose, result: 'successful' })).toBe(2);
    expect(value(metrics, 'prober_probe_total', { ...whose, result: 'failed' })).toBe(1);
    expect(value(metrics, 'prober_probe_duration_seconds_count', { pod_uid: UID })).toBe(3);

    metrics.meter({ kind: 'work', uid: UID, operation: 'terminated', took: 1 });
    expect(told(metrics, 'prober_probe_total').map(({ labels }) => labels['pod_uid'])).toEqual(['other']);
  });

  it('stays fast and small: ten thousand pods come and go', () => {
    const metrics = agentMetrics();
    for (let index = 0; index < 10_000; index += 1) {
      const uid = `u-${index}` as PodUid;
      metrics.meter({ ...PROBE, uid, container: 'app', result: 'successful' });
      metrics.meter({ kind: 'work', uid, operation: 'terminated', took: 1 });
    }
    expect(told(metrics, 'prober_probe_total')).toEqual([]);
    expect(exposition(metrics.families()).length).toBeLessThan(20_000);
  });
});
