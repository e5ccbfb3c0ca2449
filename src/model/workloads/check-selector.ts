import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Draft, PodTemplateDraft } from '../manifest/draft.ts';
import type { Report } from '../schema/field-path.ts';

/**
 * The selector of a Deployment or DaemonSet must pick the pods of its own template, as in the API. Nothing else comes of
 * it here: pods belong to what made them.
 */
export function checkSelector(
  selector: Draft<V1LabelSelector> | undefined,
  { metadata: { labels = {} } = {} }: PodTemplateDraft,
  report: Report,
): void {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) {
    report(['spec', 'selector'], 'is required');
    return;
  }
  for (const [key, value] of Object.entries(matchLabels)) {
    if (labels[key] !== value)
      report(['spec', 'selector', 'matchLabels', key], 'must be a label of spec.template.metadata.labels');
  }
  matchExpressions.forEach(({ key = '', operator, values = [] }, index) => {
    const at = ['spec', 'selector', 'matchExpressions', index];
    const value = labels[key];
    const isMet =
      operator === 'In'
        ? value !== undefined && values.includes(value)
        : operator === 'NotIn'
          ? value === undefined || !values.includes(value)
          : operator === 'Exists'
            ? value !== undefined
            : operator === 'DoesNotExist' && value === undefined;
    if (!isMet) report(at, 'must match spec.template.metadata.labels');
  });
}
