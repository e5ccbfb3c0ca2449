import { catchError, map, of, take, timeout, type Observable } from 'rxjs';
import type { Instance } from '../model/logs/instance-of.ts';
import type { PodStatus } from '../model/pod.ts';
import type { NodeView, PodView } from '../streams/view/node-view.ts';

/** A container as a path names it: `/:namespace/:pod/:container`, with `:uid` before the last where one is meant. */
export type ContainerParams = Readonly<Record<string, string>>;

/** Milliseconds to wait for the first view after a start. */
const PATIENCE = 5_000;

/** What a path means: a container in the runtime, or the answer that there is none. */
export type Found =
  | { readonly kind: 'found'; readonly containerId: string; readonly pod: PodView }
  | { readonly kind: 'refused'; readonly status: 400 | 404 | 503; readonly text: string };

/** Looks a container up in the newest view. Emits once; never errors. */
export function findInstance(
  view$: Observable<NodeView>,
  params: ContainerParams,
  choose: (status: PodStatus) => Instance,
): Observable<Found> {
  return view$.pipe(
    take(1),
    timeout(PATIENCE),
    map((view): Found => {
      const pods = podsNamed(view, params);
      const instances = pods.map((pod) => ({ pod, instance: choose(pod.status) }));
      for (const { pod, instance } of instances) {
        if (instance.kind === 'found') return { kind: 'found', containerId: instance.containerId, pod };
      }
      const why = instances.at(-1)?.instance;
      if (why === undefined || why.kind === 'found') return { kind: 'refused', status: 404, text: noSuchPod(params) };
      return { kind: 'refused', status: why.kind === 'unknown' ? 404 : 400, text: why.message };
    }),
    catchError(() => of<Found>({ kind: 'refused', status: 503, text: 'rxlet has nothing to show yet' })),
  );
}

/** Looks up a pod whose containers may run, in the same way; its `containerId` is empty. */
export function findPodNamed(view$: Observable<NodeView>, params: ContainerParams): Observable<Found> {
  return findInstance(view$, params, () => ({ kind: 'found', containerId: '', running: true }));
}

/** While a pod is replaced there are two of its name. */
function podsNamed({ pods }: NodeView, { namespace, pod: name, uid }: ContainerParams): readonly PodView[] {
  return pods.filter(
    ({ pod: { metadata } }) =>
      metadata.namespace === namespace && metadata.name === name && (uid === undefined || metadata.uid === uid),
  );
}

function noSuchPod({ namespace = '', pod = '' }: ContainerParams): string {
  return `there is no pod ${pod} in the namespace ${namespace}`;
}
