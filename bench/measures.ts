import type { Part } from './sample.ts';

/** How one figure is shown. */
export interface Measure {
  readonly key: string;
  readonly title: string;
  readonly unit: 'ms' | 's' | '%' | 'MiB' | '/min' | '/s' | '';
  /** The figure of the floor that it is divided by, where it is not the one of its own key. */
  readonly floor?: string;
  /** What rxlet wants to reach with so many pods, on such a runtime. */
  readonly goal?: (pods: number, runtime: string) => string | undefined;
}

/** The pods of the goals that are about many, and those that run beside them. */
const MANY = 60;

function withMany(goal: string): (pods: number) => string | undefined {
  return (pods) => (pods === MANY ? goal : undefined);
}

export const MEASURES: Readonly<Record<Part, readonly Measure[]>> = {
  story: [
    { key: 'boot', title: 'agent start → first pod running', unit: 'ms', floor: 'up_one', goal: () => '≤ 2.0 × floor' },
    { key: 'up_one', title: 'manifest dropped → running', unit: 'ms', goal: () => '≤ 1.10 × floor' },
    { key: 'up_all', title: 'all N dropped → all running', unit: 'ms', goal: withMany('≤ 1.03 × floor') },
    { key: 'up_all_cpu', title: "agent's CPU for those N", unit: 's', goal: withMany('≤ 2.5 s') },
    {
      key: 'react_p50',
      title: 'container killed → successor, median',
      unit: 'ms',
      goal: (_, runtime) => (runtime === '2' ? '≤ 1.3 × floor' : '≤ 600 ms'),
    },
    { key: 'react_max', title: 'the same, the slowest of 5', unit: 'ms' },
    { key: 'edit', title: 'manifest edited → new container running', unit: 'ms', goal: () => '≤ 1.3 × floor' },
    { key: 'down_all', title: 'all N removed → all ended', unit: 'ms' },
    { key: 'idle_cpu', title: 'idle CPU, N + 2 pods', unit: '%', goal: withMany('≤ 1.5 %') },
    { key: 'idle_runtime_cpu', title: "the runtime's own idle CPU", unit: '%' },
    { key: 'memory', title: 'RSS, N + 2 pods', unit: 'MiB', goal: (pods) => MEMORY_GOALS.get(pods) },
  ],
  start: [
    { key: 'sources_seen', title: 'process start → sources seen', unit: 'ms' },
    { key: 'first_call', title: 'process start → first CRI call', unit: 'ms' },
    { key: 'first_sandbox', title: 'process start → first RunPodSandbox', unit: 'ms' },
    { key: 'running', title: 'process start → first pod running', unit: 'ms' },
    { key: 'start_cpu', title: "agent's CPU until then", unit: 'ms' },
  ],
  idle: [
    { key: 'cpu_per_minute', title: 'CPU per minute', unit: 'ms' },
    { key: 'calls_per_minute', title: 'CRI calls', unit: '/min' },
    { key: 'memory', title: 'RSS', unit: 'MiB' },
    { key: 'heap', title: 'heap', unit: 'MiB' },
  ],
  load: [
    { key: 'probes_per_second', title: 'probes that got an answer', unit: '/s' },
    { key: 'probes_cpu', title: 'CPU with probes', unit: '%' },
    { key: 'memory', title: 'RSS', unit: 'MiB' },
    { key: 'pods_p50', title: '/pods, median', unit: 'ms' },
    { key: 'pods_p99', title: '/pods, slowest of a hundred', unit: 'ms' },
    { key: 'pods_failed', title: '/pods, without an answer', unit: '' },
    { key: 'pods_cpu', title: 'CPU with probes and 50 × /pods a second', unit: '%' },
    { key: 'metrics_p50', title: '/metrics, median', unit: 'ms' },
    { key: 'metrics_p99', title: '/metrics, slowest of a hundred', unit: 'ms' },
    { key: 'metrics_failed', title: '/metrics, without an answer', unit: '' },
    { key: 'metrics_cpu', title: 'CPU with probes and 50 × /metrics a second', unit: '%' },
  ],
};

/** By the pods that are dropped at once, beside the two that run before. */
const MEMORY_GOALS: ReadonlyMap<number, string> = new Map([
  [10, '≤ 80 MiB'],
  [MANY, '≤ 95 MiB'],
]);
