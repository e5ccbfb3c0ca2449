import type { V1NodeSelectorTerm, V1PodAffinity, V1PodAffinityTerm, V1Toleration } from '@kubernetes/client-node';
import type { FieldPath, Report } from '../schema/field-path.ts';
import type { Draft, PodSpecDraft } from './draft.ts';
import { distinct, inRange, obeys, oneOf, required } from './rules.ts';
import { dnsSubdomain, labelValue, qualifiedName } from './syntax.ts';
import { validateLabels } from './validate-metadata.ts';

/** Rules of what a scheduler and the admission read. */
export function validateScheduling(spec: PodSpecDraft, path: FieldPath, report: Report): void {
  const at = (...steps: FieldPath): FieldPath => [...path, ...steps];
  validateLabels(spec.nodeSelector, at('nodeSelector'), report);
  obeys(report, at('priorityClassName'), spec.priorityClassName, dnsSubdomain);
  obeys(report, at('runtimeClassName'), spec.runtimeClassName, dnsSubdomain);
  oneOf(report, at('preemptionPolicy'), spec.preemptionPolicy, ['PreemptLowerPriority', 'Never']);
  spec.tolerations?.forEach((toleration, index) => {
    validateToleration(toleration, at('tolerations', index), report);
  });
  spec.readinessGates?.forEach(({ conditionType = '' }, index) => {
    const message = qualifiedName(conditionType);
    if (message !== undefined) report(at('readinessGates', index, 'conditionType'), message);
  });
  if ((spec.schedulingGates ?? []).length > 0)
    report(at('schedulingGates'), 'must not be given: the pod already has its node');

  const gateNames = spec.topologySpreadConstraints ?? [];
  gateNames.forEach(({ maxSkew = 0, topologyKey, whenUnsatisfiable }, index) => {
    const here = at('topologySpreadConstraints', index);
    inRange(report, [...here, 'maxSkew'], maxSkew, 1, Number.POSITIVE_INFINITY);
    if (required(report, [...here, 'topologyKey'], topologyKey))
      obeys(report, [...here, 'topologyKey'], topologyKey, qualifiedName);
    oneOf(report, [...here, 'whenUnsatisfiable'], whenUnsatisfiable ?? '', ['DoNotSchedule', 'ScheduleAnyway']);
  });
  distinct(
    report,
    gateNames.map(({ topologyKey = '', whenUnsatisfiable = '' }, index) => [
      at('topologySpreadConstraints', index),
      `${topologyKey} ${whenUnsatisfiable}`,
    ]),
  );
  validateNodeAffinity(spec, at('affinity', 'nodeAffinity'), report);
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const)
    validatePodAffinity(spec.affinity?.[kind], at('affinity', kind), report);
}

function validateToleration(
  { key = '', operator = '', value = '', effect = '', tolerationSeconds }: Draft<V1Toleration>,
  path: FieldPath,
  report: Report,
): void {
  obeys(report, [...path, 'key'], key, qualifiedName);
  oneOf(report, [...path, 'operator'], operator, ['', 'Equal', 'Exists']);
  if (key === '' && operator !== 'Exists') report([...path, 'operator'], 'must be Exists when no key is given');
  if (operator === 'Exists' && value !== '') report([...path, 'value'], 'must be empty with the operator Exists');
  if (operator !== 'Exists') obeys(report, [...path, 'value'], value, labelValue);
  oneOf(report, [...path, 'effect'], effect, ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute']);
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    report([...path, 'effect'], 'must be NoExecute when tolerationSeconds is given');
}

function validateNodeAffinity({ affinity }: PodSpecDraft, path: FieldPath, report: Report): void {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: needed,
    preferredDuringSchedulingIgnoredDuringExecution: liked = [],
  } = affinity?.nodeAffinity ?? {};
  if (needed) {
    const at = [...path, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'];
    const terms = needed.nodeSelectorTerms ?? [];
    if (terms.length === 0) report(at, 'must have at least one term');
    terms.forEach((term, index) => {
      validateTerm(term, [...at, index], report);
    });
  }
  liked.forEach(({ weight = 0, preference = {} }, index) => {
    const at = [...path, 'preferredDuringSchedulingIgnoredDuringExecution', index];
    inRange(report, [...at, 'weight'], weight, 1, 100);
    validateTerm(preference, [...at, 'preference'], report);
  });
}

function validatePodAffinity(affinity: Draft<V1PodAffinity> = {}, path: FieldPath, report: Report): void {
  const topology = ({ topologyKey }: Draft<V1PodAffinityTerm>, at: FieldPath): void => {
    if (required(report, [...at, 'topologyKey'], topologyKey))
      obeys(report, [...at, 'topologyKey'], topologyKey, qualifiedName);
  };
  affinity.requiredDuringSchedulingIgnoredDuringExecution?.forEach((term, index) => {
    topology(term, [...path, 'requiredDuringSchedulingIgnoredDuringExecution', index]);
  });
  affinity.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ weight = 0, podAffinityTerm = {} }, index) => {
    const at = [...path, 'preferredDuringSchedulingIgnoredDuringExecution', index];
    inRange(report, [...at, 'weight'], weight, 1, 100);
    topology(podAffinityTerm, [...at, 'podAffinityTerm']);
  });
}

function validateTerm(
  { matchExpressions = [], matchFields = [] }: Draft<V1NodeSelectorTerm>,
  path: FieldPath,
  report: Report,
): void {
  matchExpressions.forEach(({ key = '', operator = '', values = [] }, index) => {
    const at = [...path, 'matchExpressions', index];
    const message = qualifiedName(key);
    if (message !== undefined) report([...at, 'key'], message);
    oneOf(report, [...at, 'operator'], operator, ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      report([...at, 'values'], `must not be empty with the operator ${operator}`);
    if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
      report([...at, 'values'], `must be empty with the operator ${operator}`);
    if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1)
      report([...at, 'values'], `must be one value with the operator ${operator}`);
    values.forEach((value, i) => {
      obeys(report, [...at, 'values', i], value, labelValue);
    });
  });
  matchFields.forEach(({ key = '', operator = '', values = [] }, index) => {
    const at = [...path, 'matchFields', index];
    oneOf(report, [...at, 'key'], key, ['metadata.name']);
    oneOf(report, [...at, 'operator'], operator, ['In', 'NotIn']);
    if (values.length !== 1) report([...at, 'values'], 'must be one value');
  });
}
