import type { Pod } from '../pod.ts';
import { formatFieldPath, type FieldProblem } from '../schema/field-path.ts';
import { applyDefaults } from './apply-defaults.ts';
import type { PodDraft } from './draft.ts';
import { refuseReferences } from './refuse-references.ts';
import { refuseUnsupported } from './refuse-unsupported.ts';
import { settleIdentity, uidOf, type ManifestOrigin } from './settle-identity.ts';
import { validatePod } from './validate-pod.ts';

export interface SettleOptions extends ManifestOrigin {
  /** Whether fields that rxlet cannot act on yet are let through. Only for comparisons with the kubelet. */
  readonly allowUnsupported?: boolean;
}

/** Makes the pod of a draft whose shape is right: defaulted, settled and valid, or what is wrong with it. */
export function settlePod(
  draft: PodDraft,
  options: SettleOptions,
): { readonly pod?: Pod; readonly problems: readonly FieldProblem[] } {
  if (!draft.metadata?.name) return { problems: [{ path: ['metadata', 'name'], message: 'is required' }] };

  const settled = settleIdentity(applyDefaults(draft), uidOf(draft, options), options);
  const problems = [
    ...validatePod(settled),
    ...refuseReferences(settled),
    ...(options.allowUnsupported ? [] : refuseUnsupported(draft)),
  ];
  // Validation has made sure of every field that a Pod must have.
  return problems.length > 0 ? { problems: onePerField(problems) } : { pod: settled as unknown as Pod, problems };
}

/** What is wrong with a field need not be told twice. */
function onePerField(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  return [
    ...new Map(problems.map((problem) => [formatFieldPath(problem.path), problem] as const).reverse()).values(),
  ].reverse();
}
