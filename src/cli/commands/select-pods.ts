import type { NodeView } from '../../streams/view/node-view.ts';
import type { PsOptions } from '../command.ts';
import { findPod } from './find-pod.ts';

/**
 * The view with only the pods that were asked for. A name that nobody has is an error where `strict` is set, and
 * nothing to show else: who watches waits for the pod to come back.
 */
export function selectPods(
  view: NodeView,
  { namespace, names }: Pick<PsOptions, 'namespace' | 'names'>,
  strict: boolean,
): NodeView {
  const pods = view.pods.filter(({ pod }) => namespace === undefined || pod.metadata.namespace === namespace);
  if (names.length === 0) return namespace === undefined ? view : { ...view, pods };
  const found = new Set(names.flatMap((name) => find(name)));
  return { ...view, pods: pods.filter((one) => found.has(one)) };

  function find(name: string): NodeView['pods'] {
    try {
      return findPod(view, { name, namespace });
    } catch (error) {
      if (strict) throw error;
      return [];
    }
  }
}
