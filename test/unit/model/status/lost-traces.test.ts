import { describe, expect, it } from 'vitest';
import { container, observed, pod, sandbox, wanted } from '../../../marbles/fakes.ts';
import { ended, runs, statusOf, tell, tellContainer, within } from './facts.ts';

const never = pod({ spec: { restartPolicy: 'Never', initContainers: [wanted('init')] } });
const of = pod({ spec: { initContainers: [wanted('init')] } });
const running = statusOf(never, { observed: within(runs('main'), ended('init', 0)) });

describe('nextStatus', () => {
  it('leaves everything as an earlier run told it, until the runtime has been asked', () => {
    expect(statusOf(never, {}, running)).toBe(running);
    expect(statusOf(never, { isEnding: true }, running)).toBe(running);
  });

  it('does not wait for the runtime with a reason or a verdict', () => {
    const verdict = { phase: 'Failed', reason: 'Evicted', message: '' } as const;
    expect(statusOf(never, { verdict }, running).reason).toBe('Evicted');
    const waiting = new Map([['init', { reason: 'ErrImagePull', message: '' }]]);
    expect(tell(statusOf(of, { waiting }, statusOf(of, {})))).toContain('init: waiting ErrImagePull 0');
  });

  it('tells an init container of which no trace is left as Completed once the pod has begun, and no sidecar', () => {
    const [init] = statusOf(of, { observed: within(runs('main')) }).initContainerStatuses ?? [];
    expect(init && tellContainer(init)).toBe('init: Completed 0 0 R');
    expect(init?.state?.terminated?.message).toBe(
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
    );
    const withSidecar = pod({ spec: { initContainers: [wanted('side', { restartPolicy: 'Always' })] } });
    const [side] = statusOf(withSidecar, { observed: within(runs('main')) }).initContainerStatuses ?? [];
    expect(side && tellContainer(side)).toBe('side: waiting PodInitializing 0');
    expect(statusOf(of, { observed: within(runs('main')) }).phase).toBe('Running');
  });

  it('keeps its true end where that was told before', () => {
    const [init] = statusOf(never, { observed: within(runs('main')) }, running).initContainerStatuses ?? [];
    expect(init).toEqual(running.initContainerStatuses?.[0]);
  });

  it('is pending again while the init containers run in a new sandbox', () => {
    const seen = observed({
      sandboxes: [sandbox({ attempt: 1 }), sandbox({ state: 'notReady' })],
      containers: [container({ name: 'init', attempt: 1, sandboxId: 's-1' }), ended('main', 137)],
    });
    expect(statusOf(of, { observed: seen }, statusOf(of, { observed: within(runs('main')) })).phase).toBe('Pending');
  });

  it('remembers how the former instance ended when the runtime has forgotten it', () => {
    const before = statusOf(pod(), { observed: within(ended('main', 3)) });
    const [main] = statusOf(pod(), { observed: within(runs('main', 1)) }, before).containerStatuses ?? [];
    expect(main && tellContainer(main)).toBe('main: running 1 R S after Error 3');
  });

  it('does not take the end of an instance for that of the one before it', () => {
    const before = statusOf(pod(), { observed: within(ended('main', 3, 1)) });
    const [main] = statusOf(pod(), { observed: within(ended('main', 3, 1)) }, before).containerStatuses ?? [];
    expect(main && tellContainer(main)).toBe('main: Error 3 1');
  });
});
