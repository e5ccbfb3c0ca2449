import type { NodeView } from '../streams/view/node-view.ts';

/** The pods of a view as a v1 PodList, in the form in which the kubelet serves `/pods`. */
export function podListOf({ pods }: NodeView): unknown {
  return {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: pods
      .filter(({ phase }) => phase !== 'stopped')
      .map(({ pod: { metadata, spec }, status }) => ({ metadata, spec, status })),
  };
}
