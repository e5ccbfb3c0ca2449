import { isSidecar } from '../model/containers.ts';
import type { ObservedContainer } from '../model/observed.ts';
import type { Container } from '../model/pod.ts';
import { afterInitExit, restartPolicyOf } from '../model/restart/restart-policy.ts';
import { planCreated, planRunning } from './plan-container.ts';
import type { SandboxContext } from './plan-context.ts';
import { afterBackoff, restart } from './plan-restart.ts';
import { exitOf, newestOf, start, startOf, type Decision } from './plan-steps.ts';

/** How far the init containers of a pod have come, and what is to be done about them. */
export interface InitPlan {
  /** The regular containers may run. */
  readonly isInitialized: boolean;
  /** An init container has failed for good, and the pod with it. */
  readonly hasFailed: boolean;
  readonly decisions: readonly Decision[];
}

/**
 * Walks the init containers from the last to the first (facts sheet 8.4; kubelet, computeInitContainerActions).
 *
 * ```text
 * init      a ──► b ──► s (sidecar) ──► c ──► regular containers
 *                                       the last one that has a status says how far the pod is: it is started
 *                                       again, waited for, or the next one is started; of those before it only
 *                                       sidecars are kept running
 * ```
 *
 * Once a regular container was made in the pod it is initialised for good, and no init container runs again but
 * sidecars: removing the traces of one that did its work changes nothing.
 */
export function planInit(context: SandboxContext): InitPlan {
  const { pod, observed } = context;
  const init = pod.spec.initContainers ?? [];
  const last = init.length - 1;
  let isInitialized = init.length === 0 || hasBegun(context);
  let isPastIt = isInitialized;
  const decisions: Decision[] = [];

  for (let at = last; at >= 0; at -= 1) {
    const container = init[at];
    if (!container) continue;
    const newest = newestHere(context, container.name);
    if (!newest) {
      if (isPastIt && isSidecar(container))
        decisions.push(start(container.name, startOf(container, observed, 'it is missing')));
      continue;
    }
    if (isPastIt && !isSidecar(container)) continue;

    const progress = isSidecar(container)
      ? sidecarProgress(context, container, newest)
      : initProgress(context, container, newest);
    if (progress.kind === 'failed') return { isInitialized: false, hasFailed: true, decisions: [] };
    if (progress.decision) decisions.push(progress.decision);
    if (progress.kind === 'done' && !isPastIt) {
      const next = init[at + 1];
      if (next) decisions.push(start(next.name, startOf(next, observed, 'it is its turn')));
      else isInitialized = true;
    }
    isPastIt = true;
  }

  const [first] = init;
  if (!isPastIt && first) decisions.push(start(first.name, startOf(first, observed, 'it is the first')));
  return { isInitialized, hasFailed: false, decisions: decisions.toReversed() };
}

/** What ended in a former sandbox says nothing about this one, even where the runtime has not let go of it yet. */
function newestHere({ observed, sandbox }: SandboxContext, name: string): ObservedContainer | undefined {
  const newest = newestOf(observed, name);
  return newest?.state === 'exited' && newest.sandboxId !== sandbox.id ? undefined : newest;
}

/** A regular container that was made shows that the init containers had done their work. */
function hasBegun({ pod, observed, sandbox }: SandboxContext): boolean {
  return pod.spec.containers.some(({ name }) => {
    const newest = newestOf(observed, name);
    return newest?.sandboxId === sandbox.id && newest.state !== 'unknown';
  });
}

type Progress =
  /** The next one may start. */
  | { readonly kind: 'done'; readonly decision?: Decision }
  | { readonly kind: 'underWay'; readonly decision?: Decision }
  | { readonly kind: 'failed'; readonly decision?: never };

function initProgress(context: SandboxContext, container: Container, newest: ObservedContainer): Progress {
  switch (newest.state) {
    case 'running':
      return { kind: 'underWay' };
    case 'created':
      return { kind: 'underWay', decision: planCreated(context, container, newest) };
    case 'unknown':
      // Nobody will ever know whether it did its work, so it counts as failed.
      if (restartPolicyOf(context.pod.spec, container) === 'Never') return { kind: 'failed' };
      return { kind: 'underWay', decision: restart(context, container, newest, UNKNOWN) };
    case 'exited':
      switch (afterInitExit(context.pod.spec, container, exitOf(newest))) {
        case 'done':
          return { kind: 'done' };
        case 'leave':
          return { kind: 'failed' };
        case 'restart':
        case 'restartAll':
          return { kind: 'underWay', decision: afterBackoff(context, container, newest) };
      }
  }
}

function sidecarProgress(context: SandboxContext, container: Container, newest: ObservedContainer): Progress {
  switch (newest.state) {
    case 'running': {
      const decision = planRunning(context, container, newest);
      if (decision.kind === 'resize')
        return { kind: hasStarted(context, container, newest) ? 'done' : 'underWay', decision };
      if (decision.kind !== 'keep') return { kind: 'underWay', decision };
      return { kind: hasStarted(context, container, newest) ? 'done' : 'underWay' };
    }
    case 'created':
      return { kind: 'underWay', decision: planCreated(context, container, newest) };
    case 'unknown':
      return { kind: 'underWay', decision: restart(context, container, newest, UNKNOWN) };
    case 'exited':
      return { kind: 'underWay', decision: afterBackoff(context, container, newest) };
  }
}

const UNKNOWN = 'Init container is in "unknown" state, try killing it before restart';

function hasStarted({ probes }: SandboxContext, { name, startupProbe }: Container, { id }: ObservedContainer): boolean {
  if (!startupProbe) return true;
  const findings = probes.get(name);
  return findings?.containerId === id && findings.started;
}
