import { isSidecar } from './containers.ts';
import type { PodSpec } from './pod.ts';
import { formatQuantity, parseQuantity, type Quantity } from './quantity.ts';

export type ResourceList = Readonly<Record<string, string>>;
type Kind = 'requests' | 'limits';
type Amounts = ReadonlyMap<string, Quantity>;

/** So much of a container or a pod as says what it asks for; drafts of pods have it too. */
interface Asker {
  readonly restartPolicy?: string;
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList };
}

interface Askers {
  readonly containers?: readonly Asker[];
  readonly initContainers?: readonly Asker[];
}

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

/** What the pod itself asks for, without what running it costs: what the runtime is told of its sandbox. */
export function podRequestsWithoutOverhead(spec: PodSpec): ResourceList {
  return printed(withPodLevel(spec, 'requests'));
}

export function podLimitsWithoutOverhead(spec: PodSpec): ResourceList {
  return printed(withPodLevel(spec, 'limits'));
}

/** What the containers ask for together, whatever the pod as a whole says. */
export function aggregateRequests(spec: Askers): ResourceList {
  return printed(ofContainers(spec, 'requests'));
}

/** Resources that a pod can ask for as a whole. */
function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/** Whether the pod as a whole asks for anything; then that decides, and not its containers (KEP-2837). */
export function hasPodLevelResources({ resources }: PodSpec): boolean {
  return [resources?.requests, resources?.limits].some((list) => Object.keys(list ?? {}).some(isPodLevelResource));
}

/** Overhead makes no limit where there is none. */
function podTotal(spec: PodSpec, kind: Kind): ResourceList {
  const total = withPodLevel(spec, kind);
  const overhead = Object.entries(spec.overhead ?? {}).filter(([name]) => kind === 'requests' || total.has(name));
  return printed(sum(total, new Map(overhead.flatMap(parsed))));
}

function withPodLevel(spec: PodSpec, kind: Kind): Amounts {
  const ofPod = Object.entries(spec.resources?.[kind] ?? {}).filter(([name]) => isPodLevelResource(name));
  return new Map([...ofContainers(spec, kind), ...ofPod.flatMap(parsed)]);
}

function ofContainers(spec: Askers, kind: Kind): Amounts {
  let sidecars: Amounts = new Map();
  let most: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const amounts = amountsOf(container, kind);
    if (isSidecar(container)) sidecars = sum(sidecars, amounts);
    most = greater(most, isSidecar(container) ? sidecars : sum(sidecars, amounts));
  }
  return greater(most, (spec.containers ?? []).map((container) => amountsOf(container, kind)).reduce(sum, sidecars));
}

function printed(amounts: Amounts): ResourceList {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

function amountsOf({ resources }: Asker, kind: Kind): Amounts {
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
