import type { PodSpec } from '../pod.ts';
import type { Taint } from './admission-node.ts';

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Whether the pod puts up with everything that would have it ended; other taints are for schedulers. */
export function toleratesNoExecute({ tolerations = [] }: PodSpec, taints: readonly Taint[]): boolean {
  return taints
    .filter(({ effect }) => effect === 'NoExecute')
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** An empty effect means every effect, and an empty key with `Exists` every taint. */
function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return operator === 'Equal' && key !== '' && value === (taint.value ?? '');
}
