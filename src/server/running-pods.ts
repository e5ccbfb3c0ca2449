import type { ObservedPod } from '../model/observed.ts';
import type { PodBook } from '../streams/book/pod-book.ts';

/** What runs as the runtime tells it, in the form in which the kubelet serves `/runningpods/`: without a status. */
export function runningPodsOf({ entries, strangers }: PodBook): unknown {
  const observed = [...[...entries.values()].flatMap((entry) => entry.observed ?? []), ...strangers.values()];
  return {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: observed
      .map((pod) => ({ pod, containers: runningIn(pod) }))
      .filter(({ pod, containers }) => containers.length > 0 || pod.sandboxes.some(({ state }) => state === 'ready'))
      .map(({ pod: { name, namespace, uid }, containers }) => ({
        metadata: { name, namespace, uid },
        spec: { containers },
        status: {},
      })),
  };
}

function runningIn({ containers }: ObservedPod): readonly { readonly name: string; readonly image: string }[] {
  return containers.filter(({ state }) => state === 'running').map(({ name, image }) => ({ name, image }));
}
