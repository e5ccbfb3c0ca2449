import { isSidecar } from './containers.ts';
import type { Container, PodSpec } from './pod.ts';
import { formatQuantity, parseQuantity, type Quantity } from './quantity.ts';

export type ResourceList = Readonly<Record<string, string>>;
type Kind = 'requests' | 'limits';
type Amounts = ReadonlyMap<string, Quantity>;

/**
 * What the pod as a whole asks for (facts sheet 11.3): its regular containers and sidecars together, or any init
 * container with the sidecars before it, whichever is more; overhead on top. Pod-level resources win.
 */
export function podRequests(spec: PodSpec): ResourceList {
  return podTotal(spec, 'requests');
}

export function podLimits(spec: PodSpec): ResourceList {
  return podTotal(spec, 'limits');
}

function podTotal(spec: PodSpec, kind: Kind): ResourceList {
  let sidecars: Amounts = new Map();
  let most: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const amounts = amountsOf(container, kind);
    if (isSidecar(container)) sidecars = sum(sidecars, amounts);
    most = greater(most, isSidecar(container) ? sidecars : sum(sidecars, amounts));
  }
  const regular = spec.containers.map((container) => amountsOf(container, kind)).reduce(sum, sidecars);
  const ofPod = new Map(Object.entries(spec.resources?.[kind] ?? {}).flatMap(parsed));
  const total = new Map([...greater(most, regular), ...ofPod]);
  const overhead = new Map(
    Object.entries(kind === 'requests' || total.size > 0 ? (spec.overhead ?? {}) : {}).flatMap(parsed),
  );
  return Object.fromEntries([...sum(total, overhead)].map(([name, amount]) => [name, formatQuantity(amount)]));
}

function amountsOf({ resources }: Container, kind: Kind): Amounts {
  return new Map(Object.entries(resources?.[kind] ?? {}).flatMap(parsed));
}

function parsed([name, text]: readonly [string, string]): readonly (readonly [string, Quantity])[] {
  const quantity = parseQuantity(text);
  return quantity ? [[name, quantity]] : [];
}

function sum(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => ({ nano: x.nano + y.nano, format: x.format }));
}

function greater(a: Amounts, b: Amounts): Amounts {
  return combine(a, b, (x, y) => (y.nano > x.nano ? y : x));
}

function combine(a: Amounts, b: Amounts, of: (x: Quantity, y: Quantity) => Quantity): Amounts {
  const result = new Map(a);
  for (const [name, amount] of b) {
    const other = result.get(name);
    result.set(name, other ? of(other, amount) : amount);
  }
  return result;
}
