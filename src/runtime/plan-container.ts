import { CONFIG_HASH } from '../model/cri/labels.ts';
import type { ObservedContainer } from '../model/observed.ts';
import type { Container } from '../model/pod.ts';
import { afterExit, restartPolicyOf } from '../model/restart/restart-policy.ts';
import type { ProbeFindings } from '../streams/workers/pod-work.ts';
import type { SandboxContext } from './plan-context.ts';
import { planResize } from './plan-resize.ts';
import { afterBackoff, restart } from './plan-restart.ts';
import { exitOf, isAsDefined, newestOf, start, startOf, type Decision } from './plan-steps.ts';

/** Decides over one regular container (facts sheet 8.3, 9). */
export function planContainer(context: SandboxContext, container: Container): Decision {
  const { pod, observed } = context;
  const newest = newestOf(observed, container.name);
  if (!newest) return start(container.name, startOf(container, observed, 'it has not run yet'));
  switch (newest.state) {
    case 'running':
      return planRunning(context, container, newest);
    case 'created':
      return planCreated(context, container, newest);
    case 'unknown':
      return restart(context, container, newest, 'Container is in "unknown" state, try killing it before restart');
    case 'exited':
      return afterExit(pod.spec, container, exitOf(newest)) === 'leave'
        ? { kind: 'leave' }
        : afterBackoff(context, container, newest);
  }
}

/** A container that runs in the pod's sandbox, as it is defined, and that no probe has found bad. */
export function planRunning(context: SandboxContext, container: Container, running: ObservedContainer): Decision {
  const { pod, sandbox, probes } = context;
  const { name } = container;
  const isInit = pod.spec.initContainers?.includes(container) === true;
  const because = (what: string): string =>
    isInit ? `Init container ${name} ${what}` : `Container ${name} ${what}, will be restarted`;
  if (running.sandboxId !== sandbox.id) return restart(context, container, running, because('outlived its sandbox'));
  if (!isAsDefined(running, container)) return restart(context, container, running, because('definition changed'));
  if (isReconfigured(context, running)) return restart(context, container, running, because('configuration changed'));

  const failed = failedProbe(probes.get(name), running);
  if (!failed) return planResize(context, container, running) ?? { kind: 'keep' };
  const grace = container[`${failed}Probe`]?.terminationGracePeriodSeconds;
  const ownGrace = grace === undefined ? {} : { grace };
  if (restartPolicyOf(pod.spec, container) !== 'Never') {
    return restart(context, container, running, because(`failed ${failed} probe`), ownGrace);
  }
  const why = `Container ${name} failed ${failed} probe`;
  return { kind: 'stop', steps: [{ do: 'stopContainer', container: running, why, ...ownGrace }] };
}

/** Whether the objects that its variables are from have changed since it was made. */
function isReconfigured({ configHashes }: SandboxContext, { name, annotations }: ObservedContainer): boolean {
  const [before, now] = [annotations[CONFIG_HASH], configHashes?.get(name)];
  return before !== undefined && now !== undefined && before !== now;
}

/** What was found of an earlier instance says nothing about this one. */
function failedProbe(
  findings: ProbeFindings | undefined,
  { id }: ObservedContainer,
): 'liveness' | 'startup' | undefined {
  if (findings?.containerId !== id) return undefined;
  if (findings.liveness === 'failure') return 'liveness';
  return findings.startup === 'failure' ? 'startup' : undefined;
}

export function planCreated(
  { observed, sandbox }: SandboxContext,
  container: Container,
  created: ObservedContainer,
): Decision {
  const { name } = container;
  if (created.sandboxId !== sandbox.id) return start(name, startOf(container, observed, 'its sandbox has ended'));
  if (!isAsDefined(created, container)) return start(name, startOf(container, observed, 'its definition changed'));
  return start(name, { do: 'startCreated', container, created });
}
