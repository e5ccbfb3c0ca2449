import { settlePod } from '../manifest/settle-pod.ts';
import type { Pod } from '../pod.ts';
import { OWNER } from '../rxlet-annotations.ts';
import { podDraft } from './pod-draft.ts';
import type { Workload } from './workload.ts';

/** Labels by which other tools know which version of a template a pod is of, and to which Job it belongs. */
const HASH_LABELS = {
  Deployment: 'pod-template-hash',
  DaemonSet: 'controller-revision-hash',
} as const;

/**
 * One pod of a workload; `name` is without the node's suffix. Its UID follows from what it is made of, so that a restarted
 * agent finds its pods again.
 */
export function podOfWorkload(workload: Workload, name: string): Pod {
  const { kind, metadata, template, hash, origin } = workload;
  const labels =
    kind === 'Job'
      ? { 'batch.kubernetes.io/job-name': metadata.name, 'job-name': metadata.name }
      : { [HASH_LABELS[kind]]: hash };
  const { pod, problems } = settlePod(podDraft(metadata, template, name, labels), origin);
  // The template was valid when it was decoded, and only names differ.
  if (!pod) throw new Error(`a pod of ${metadata.name} is not valid: ${problems[0]?.message ?? ''}`);
  const annotations = { ...pod.metadata.annotations, [OWNER]: `${kind}/${metadata.namespace}/${metadata.name}` };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
