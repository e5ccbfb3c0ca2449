import type { FieldPath, FieldProblem } from '../schema/field-path.ts';
import type { PodDraft } from './draft.ts';
import { distinct, inRange, LARGEST_INT32, oneOf, required } from './rules.ts';
import { validateContainer } from './validate-container.ts';
import { validateMetadata } from './validate-metadata.ts';
import { validateNetwork } from './validate-network.ts';
import { validateHostPorts } from './validate-ports.ts';
import { validateResources } from './validate-resources.ts';
import { validateScheduling } from './validate-scheduling.ts';
import { validateAppArmorAnnotations, validatePodSecurity } from './validate-security.ts';
import { validateVolumes } from './validate-volumes.ts';

/**
 * Everything that the kubelet's create validation would refuse in a settled, defaulted pod, in the order of the
 * rules. No problem means that the pod is one.
 */
export function validatePod(pod: PodDraft): readonly FieldProblem[] {
  const { metadata = {}, spec = {} } = pod;
  const problems: FieldProblem[] = [];
  const report = (path: FieldPath, message: string): void => void problems.push({ path, message });
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = spec;

  validateMetadata(metadata, report);
  validateVolumes(volumes, spec.serviceAccountName, ['spec', 'volumes'], report);
  if (containers.length === 0) report(['spec', 'containers'], 'is required');
  containers.forEach((container, index) => {
    validateContainer(container, 'main', spec, ['spec', 'containers', index], report);
  });
  initContainers.forEach((container, index) => {
    validateContainer(container, 'init', spec, ['spec', 'initContainers', index], report);
  });
  if (ephemeralContainers.length > 0) report(['spec', 'ephemeralContainers'], 'must not be given in a manifest');
  distinct(report, [
    ...containers.map(({ name }, index): [FieldPath, string | undefined] => [
      ['spec', 'containers', index, 'name'],
      name,
    ]),
    ...initContainers.map(({ name }, index): [FieldPath, string | undefined] => [
      ['spec', 'initContainers', index, 'name'],
      name,
    ]),
  ]);
  validateHostPorts(containers, ['spec', 'containers'], report);
  validateHostPorts(initContainers, ['spec', 'initContainers'], report);

  oneOf(report, ['spec', 'restartPolicy'], spec.restartPolicy, ['Always', 'OnFailure', 'Never']);
  inRange(report, ['spec', 'activeDeadlineSeconds'], spec.activeDeadlineSeconds, 1, LARGEST_INT32);
  if (spec.os && required(report, ['spec', 'os', 'name'], spec.os.name))
    oneOf(report, ['spec', 'os', 'name'], spec.os.name, ['linux', 'windows']);
  if (spec.resources) validateResources(spec.resources, ['spec', 'resources'], report, true);
  validateNetwork(spec, ['spec'], report);
  validatePodSecurity(spec, ['spec'], report);
  validateAppArmorAnnotations(pod, report);
  validateScheduling(spec, ['spec'], report);
  return problems;
}
