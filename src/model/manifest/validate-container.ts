import type { FieldPath, Report } from '../schema/field-path.ts';
import type { ContainerDraft, PodSpecDraft } from './draft.ts';
import { distinct, obeys, oneOf, required } from './rules.ts';
import { dnsLabel } from './syntax.ts';
import { validateEnv } from './validate-env.ts';
import { validateMounts } from './validate-mounts.ts';
import { validatePorts } from './validate-ports.ts';
import { validateLifecycle, validateProbes } from './validate-probes.ts';
import { validateResources } from './validate-resources.ts';
import { validateSecurity } from './validate-security.ts';

/** Rules of one container of a pod; an init container is one that runs before the others. */
export function validateContainer(
  container: ContainerDraft,
  kind: 'init' | 'main',
  spec: PodSpecDraft,
  path: FieldPath,
  report: Report,
): void {
  const at = (...steps: FieldPath): FieldPath => [...path, ...steps];
  const { name, image } = container;
  if (required(report, at('name'), name)) obeys(report, at('name'), name, dnsLabel);
  if (required(report, at('image'), image) && image.trim() !== image)
    report(at('image'), 'must have no white space around it');
  oneOf(report, at('imagePullPolicy'), container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never']);
  oneOf(report, at('terminationMessagePolicy'), container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError']);
  validatePorts(container.ports ?? [], spec.hostNetwork === true, at('ports'), report);
  validateEnv(container, path, report);
  validateMounts(container, spec.volumes ?? [], path, report);
  validateResources(container.resources ?? {}, at('resources'), report);
  validateClaims(container, spec, at('resources', 'claims'), report);
  validateResize(container, spec.restartPolicy, at('resizePolicy'), report);
  if (container.securityContext) validateSecurity(container.securityContext, spec, at('securityContext'), report);
  validateRestarts(container, at, report);

  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  if (kind === 'init' && container.restartPolicy !== 'Always') {
    for (const [field, given] of Object.entries({ livenessProbe, readinessProbe, startupProbe, lifecycle })) {
      if (given) report(at(field), 'must not be given for an init container unless its restartPolicy is Always');
    }
    return;
  }
  validateProbes(container, path, report);
  if (lifecycle)
    validateLifecycle(lifecycle, spec.terminationGracePeriodSeconds ?? 0, spec.os?.name, at('lifecycle'), report);
}

function validateRestarts(
  { restartPolicy, restartPolicyRules = [] }: ContainerDraft,
  at: (...steps: FieldPath) => FieldPath,
  report: Report,
): void {
  oneOf(report, at('restartPolicy'), restartPolicy, ['Always', 'OnFailure', 'Never']);
  if (restartPolicyRules.length > 0 && restartPolicy === undefined)
    report(at('restartPolicy'), 'is required beside restartPolicyRules');
  if (restartPolicyRules.length > 20) report(at('restartPolicyRules'), 'must not have more than 20 rules');
  restartPolicyRules.forEach(({ action, exitCodes }, index) => {
    const field = at('restartPolicyRules', index, 'action');
    if (required(report, field, action)) oneOf(report, field, action, ['Restart', 'RestartAllContainers']);
    const codes = at('restartPolicyRules', index, 'exitCodes');
    if (!exitCodes) {
      report(codes, 'is required');
      return;
    }
    if (required(report, [...codes, 'operator'], exitCodes.operator))
      oneOf(report, [...codes, 'operator'], exitCodes.operator, ['In', 'NotIn']);
    if ((exitCodes.values ?? []).length === 0) report([...codes, 'values'], 'must have at least one exit code');
    if ((exitCodes.values ?? []).length > 255) report([...codes, 'values'], 'must not have more than 255 exit codes');
  });
}

function validateClaims(
  { resources }: ContainerDraft,
  { resourceClaims = [] }: PodSpecDraft,
  path: FieldPath,
  report: Report,
): void {
  resources?.claims?.forEach(({ name }, index) => {
    if (required(report, [...path, index, 'name'], name) && !resourceClaims.some((claim) => claim.name === name)) {
      report([...path, index, 'name'], `the pod has no resource claim ${JSON.stringify(name)}`);
    }
  });
}

function validateResize(
  { resizePolicy = [] }: ContainerDraft,
  podPolicy: string | undefined,
  path: FieldPath,
  report: Report,
): void {
  resizePolicy.forEach(({ resourceName = '', restartPolicy = '' }, index) => {
    oneOf(report, [...path, index, 'resourceName'], resourceName, ['cpu', 'memory']);
    oneOf(report, [...path, index, 'restartPolicy'], restartPolicy, ['NotRequired', 'RestartContainer']);
    if (podPolicy === 'Never' && restartPolicy === 'RestartContainer')
      report([...path, index, 'restartPolicy'], 'must be NotRequired in a pod that never restarts');
  });
  distinct(
    report,
    resizePolicy.map(({ resourceName }, index) => [[...path, index, 'resourceName'], resourceName]),
  );
}
