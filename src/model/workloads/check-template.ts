import type { PodTemplateDraft } from '../manifest/draft.ts';
import type { ManifestOrigin } from '../manifest/settle-identity.ts';
import { settlePod } from '../manifest/settle-pod.ts';
import type { ObjectMetadata } from '../objects/object-metadata.ts';
import type { FieldPath, Report } from '../schema/field-path.ts';
import { podDraft } from './pod-draft.ts';

/** A template is checked as a pod of the workload would be, and each mistake is told at its place in the template. */
export function checkTemplate(
  owner: ObjectMetadata,
  template: PodTemplateDraft,
  restartPolicies: readonly string[],
  origin: ManifestOrigin,
  report: Report,
): void {
  if (!template.spec) {
    report(['spec', 'template', 'spec'], 'is required');
    return;
  }
  const policy = template.spec.restartPolicy ?? 'Always';
  const at = (...path: FieldPath): FieldPath => ['spec', 'template', ...path];
  if (!restartPolicies.includes(policy)) {
    const hint = template.spec.restartPolicy === undefined ? ', and is Always where it is not given' : '';
    report(
      at('spec', 'restartPolicy'),
      `${JSON.stringify(policy)} must be one of ${restartPolicies.join(', ')}${hint}`,
    );
  }
  if (restartPolicies.includes('Always') && template.spec.activeDeadlineSeconds !== undefined)
    report(at('spec', 'activeDeadlineSeconds'), 'must not be given: its pods are to run on');
  const { namespace } = template.metadata ?? {};
  if (namespace !== undefined && namespace !== '' && namespace !== owner.namespace)
    report(at('metadata', 'namespace'), `must be that of its owner, ${owner.namespace}`);
  if (owner.name === '') return;
  for (const { path, message } of settlePod(podDraft(owner, template, `${owner.name}-0`), origin).problems) {
    // A name that is wrong is the owner's.
    if (path[0] === 'metadata' && path[1] === 'name')
      report(['metadata', 'name'], `makes a wrong pod name: ${message}`);
    else report(at(...path), message);
  }
}
