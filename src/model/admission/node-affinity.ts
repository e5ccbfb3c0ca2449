import type { PodSpec } from '../pod.ts';
import type { AdmissionNode } from './admission-node.ts';

type Term = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'][number];
type Requirement = NonNullable<Term['matchExpressions']>[number];

/**
 * Whether the node is one of those that the pod wants: every label of its nodeSelector, and at least one term of its
 * required node affinity. Preferences count for schedulers only.
 */
export function isWantedNode(
  { nodeSelector, affinity }: PodSpec,
  { nodeName, labels }: Pick<AdmissionNode, 'nodeName' | 'labels'>,
): boolean {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (
    Object.entries(nodeSelector ?? {}).every(([name, value]) => labels[name] === value) &&
    (required === undefined || required.nodeSelectorTerms.some((term) => meetsTerm(term, nodeName, labels)))
  );
}

/** A term that asks for nothing is met by no node. */
function meetsTerm(
  { matchExpressions = [], matchFields = [] }: Term,
  nodeName: string,
  labels: AdmissionNode['labels'],
): boolean {
  return (
    matchExpressions.length + matchFields.length > 0 &&
    matchExpressions.every((requirement) => meets(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => requirement.key === 'metadata.name' && meets(requirement, nodeName))
  );
}

function meets({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return compare(value, values, (has, wants) => has > wants);
    case 'Lt':
      return compare(value, values, (has, wants) => has < wants);
    default:
      return false;
  }
}

/** Only whole numbers can be more or less than others. */
function compare(
  value: string | undefined,
  values: readonly string[],
  holds: (has: bigint, wants: bigint) => boolean,
): boolean {
  const [wants] = values;
  if (value === undefined || wants === undefined || values.length !== 1) return false;
  return WHOLE.test(value) && WHOLE.test(wants) && holds(BigInt(value), BigInt(wants));
}

const WHOLE = /^-?\d+$/;
