import type { ResourceList } from '../pod-resources.ts';
import type { Container, PodSpec } from '../pod.ts';
import { milliValue, parseQuantity, wholeValue } from '../quantity.ts';

type ResourceRef = NonNullable<NonNullable<NonNullable<Container['env']>[number]['valueFrom']>['resourceFieldRef']>;

export type ResourceValue =
  { readonly kind: 'value'; readonly text: string } | { readonly kind: 'problem'; readonly message: string };

/** Where nothing limits a container, the pod does, and then the node. */
const DEFAULTED = ['cpu', 'memory', 'ephemeral-storage'];

/**
 * What a `resourceFieldRef` stands for (facts sheet 13): a request or limit of this container or of another one of the
 * pod, in multiples of the divisor, rounded up. `allocatable` is what pods of the node may have together.
 */
export function resourceValue(
  spec: PodSpec,
  container: Container,
  { containerName, resource, divisor }: ResourceRef,
  allocatable: ResourceList,
): ResourceValue {
  const other = containerName === undefined || containerName === '' ? container.name : containerName;
  const regular = spec.containers.find(({ name }) => name === other);
  const of = regular ?? spec.initContainers?.find(({ name }) => name === other);
  if (!of) return { kind: 'problem', message: `container ${other} not found` };

  const [kind, ...rest] = resource.split('.');
  const name = rest.join('.');
  const unit = parseQuantity(divisor === undefined || divisor === '0' ? '1' : divisor);
  const measure = name === 'cpu' ? milliValue : wholeValue;
  if ((kind !== 'limits' && kind !== 'requests') || !unit || measure(unit) === 0)
    return { kind: 'problem', message: `unsupported container resource : ${resource}` };
  const given = amount(of.resources?.[kind]?.[name], measure);
  // An init container that another container asks about is taken as it stands.
  const isDefaulted =
    kind === 'limits' && DEFAULTED.includes(name) && (regular !== undefined || of.name === container.name);
  const most = amount(spec.resources?.limits?.[name], measure) || amount(allocatable[name], measure);
  const value = isDefaulted && given === 0 ? most : given;
  return { kind: 'value', text: String(Math.ceil(value / measure(unit))) };
}

function amount(text: string | undefined, measure: typeof milliValue): number {
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? measure(quantity) : 0;
}
