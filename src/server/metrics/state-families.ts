import type { PodBook, PodPhase } from '../../streams/book/pod-book.ts';
import type { NodeView } from '../../streams/view/node-view.ts';
import { gauge, single, type Family } from './family.ts';

export interface NodeState {
  readonly nodeName: string;
  readonly version: string;
  readonly view: NodeView;
  readonly book: PodBook;
}

/** What holds at this moment, counted only when somebody asks. */
export function stateFamilies({ nodeName, version, view, book }: NodeState): readonly Family[] {
  const entries = [...book.entries.values()];
  const observed = [...entries.flatMap((entry) => entry.observed ?? []), ...book.strangers.values()];
  const wanted = entries.filter(({ phase, pod }) => pod !== undefined && phase !== 'terminating' && phase !== 'ended');
  return [
    gauge('kubelet_node_name', 'The name of this node; always 1.', [{ labels: { node: nodeName }, value: 1 }]),
    single(
      'kubelet_running_pods',
      'Pods that have a sandbox which is ready.',
      observed.filter(({ sandboxes }) => sandboxes.some(({ state }) => state === 'ready')).length,
    ),
    gauge(
      'kubelet_running_containers',
      'Containers that the runtime holds, by their state.',
      tallied(observed.flatMap(({ containers }) => containers.map(({ state }) => state))).map(([state, value]) => ({
        labels: { container_state: state },
        value,
      })),
    ),
    gauge('kubelet_desired_pods', 'Pods that the sources ask for.', [ofStatic(wanted.length)]),
    gauge('kubelet_active_pods', 'Pods that are asked for and not done for good.', [
      ofStatic(wanted.filter(({ phase }) => phase !== 'finished').length),
    ]),
    gauge(
      'kubelet_working_pods',
      'Pods that the agent looks after, by what becomes of them and whether somebody asks for them.',
      tallied(
        entries.map(({ phase, pod }) => `${LIFECYCLES[phase]} ${pod === undefined ? 'runtime_only' : 'desired'}`),
      ).map(([key, value]) => {
        const [lifecycle = '', config = ''] = key.split(' ');
        return { labels: { lifecycle, config, static: 'true' }, value };
      }),
    ),
    gauge(
      'rxlet_pods',
      'Pods of which a status is told, by its phase.',
      tallied(view.pods.map(({ status }) => status.phase ?? 'Unknown')).map(([phase, value]) => ({
        labels: { phase },
        value,
      })),
    ),
    single('rxlet_problems', 'What is wrong in the input of the sources at this moment.', view.problems.length),
    single('rxlet_runtime_ready', 'Whether the container runtime says that it is ready.', view.runtime.ready ? 1 : 0),
    single('rxlet_pleg_healthy', 'Whether the runtime has been listed lately.', view.plegHealthy ? 1 : 0),
    gauge('rxlet_build_info', 'What is running; always 1.', [
      { labels: { version, nodejs: process.version }, value: 1 },
    ]),
  ];
}

const LIFECYCLES: Readonly<Record<PodPhase, 'sync' | 'terminating' | 'terminated'>> = {
  preparing: 'sync',
  waiting: 'sync',
  refused: 'sync',
  syncing: 'sync',
  finished: 'terminated',
  terminating: 'terminating',
  ended: 'terminated',
};

/** All pods are static ones here: they come from files and the like, not from an API server. */
function ofStatic(value: number): { readonly labels: { readonly static: 'true' }; readonly value: number } {
  return { labels: { static: 'true' }, value };
}

function tallied(keys: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
