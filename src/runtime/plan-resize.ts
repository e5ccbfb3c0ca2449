import type { ObservedContainer } from '../model/observed.ts';
import type { AppliedResources } from '../model/pod-memory.ts';
import type { Container } from '../model/pod.ts';
import { allContainers } from '../model/containers.ts';
import { qosClassOf } from '../model/qos.ts';
import type { SandboxContext } from './plan-context.ts';
import { restart } from './plan-restart.ts';
import { newestOf, type Decision } from './plan-steps.ts';

/** The resources that can be changed while a container runs (KEP-1287). */
const RESIZABLE = ['cpu', 'memory'] as const;

/**
 * Decides over a running container whose cpu or memory the manifest now gives otherwise; nothing where it does not.
 *
 * | what changed                                          | then                                                |
 * | ----------------------------------------------------- | --------------------------------------------------- |
 * | amounts whose resizePolicy says nothing               | the runtime changes them in the running container   |
 * | an amount whose resizePolicy says RestartContainer    | the container is restarted                          |
 * | the pod's QoS class with it                           | nothing: its cgroup stands elsewhere; needs a new pod |
 */
export function planResize(
  context: SandboxContext,
  container: Container,
  running: ObservedContainer,
): Decision | undefined {
  const applied = context.memory.resources.get(container.name);
  if (applied?.id !== running.id) return undefined;
  const wanted = amountsOf(container);
  if (applied.amounts === wanted) return undefined;
  const changed = RESIZABLE.filter((name) => JSON.stringify(applied.amounts[name]) !== JSON.stringify(wanted[name]));
  if (changed.length === 0 || !keepsQosClass(context)) return undefined;

  const policies = new Map((container.resizePolicy ?? []).map((policy) => [policy.resourceName, policy.restartPolicy]));
  if (changed.some((name) => policies.get(name) === 'RestartContainer')) {
    return restart(context, container, running, `Container ${container.name} resize requires restart`);
  }
  return { kind: 'resize', steps: [{ do: 'resizeContainer', container, running }] };
}

/** What the running containers will have been given once the plan is done; a container seen for the first time has what was asked for. */
export function appliedAfter(context: SandboxContext): ReadonlyMap<string, AppliedResources> {
  const { pod, observed, memory } = context;
  let isFixed: boolean | undefined;
  const after = new Map<string, AppliedResources>();
  for (const container of allContainers(pod.spec)) {
    const newest = newestOf(observed, container.name);
    if (newest?.state !== 'running') continue;
    const before = memory.resources.get(container.name);
    const known = before?.id === newest.id ? before : undefined;
    const amounts = amountsOf(container);
    const isSame =
      known &&
      (known.amounts === amounts ||
        JSON.stringify(known.amounts) === JSON.stringify(amounts) ||
        (isFixed ??= !keepsQosClass(context)));
    after.set(container.name, isSame ? known : { id: newest.id, amounts });
  }
  const isUnchanged =
    after.size === memory.resources.size && [...after].every(([name, given]) => memory.resources.get(name) === given);
  return isUnchanged ? memory.resources : after;
}

/** The class is settled for the life of a pod, since its cgroup stands below that of the class. */
function keepsQosClass({ pod, status }: SandboxContext): boolean {
  return status?.qosClass === undefined || status.qosClass === qosClassOf(pod.spec);
}

const amountsKnown = new WeakMap<Container, AppliedResources['amounts']>();

/** The same object for the same container, whose definition never changes: mostly that is all that has to be compared. */
function amountsOf(container: Container): AppliedResources['amounts'] {
  const before = amountsKnown.get(container);
  if (before) return before;
  const { requests, limits } = container.resources ?? {};
  const amounts = Object.fromEntries(RESIZABLE.map((name) => [name, [requests?.[name] ?? '', limits?.[name] ?? '']]));
  amountsKnown.set(container, amounts);
  return amounts;
}
