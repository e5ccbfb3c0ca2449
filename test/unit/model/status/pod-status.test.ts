import { describe, expect, it } from 'vitest';
import type { ObservedContainer, ObservedPod } from '../../../../src/model/observed.ts';
import type { Pod, PodStatus } from '../../../../src/model/pod.ts';
import { nextStatus } from '../../../../src/model/status/pod-status.ts';
import type { StatusFacts } from '../../../../src/model/status/status-facts.ts';
import { container, exited, observed, pod, sandbox, wanted } from '../../../marbles/fakes.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const WAITS = new Map([['main', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]]);

function status(
  of: Pod,
  seen?: Partial<ObservedPod>,
  more: Partial<StatusFacts> = {},
  previous?: PodStatus,
): PodStatus {
  return nextStatus(of, previous, {
    observed: seen && observed(seen),
    waiting: new Map(),
    probed: new Map(),
    verdict: undefined,
    runtimeName: 'containerd',
    hostIps: ['192.0.2.2'],
    isEnding: false,
    now: NOW,
    ...more,
  });
}

const within = (...containers: readonly ObservedContainer[]): Partial<ObservedPod> => ({
  sandboxes: [sandbox()],
  containers,
});
const two = (restartPolicy: string): Pod =>
  pod({ spec: { restartPolicy, containers: [wanted('zulu'), wanted('alpha')] } });
const policy = (restartPolicy: string): Pod => pod({ spec: { restartPolicy } });

describe('the phase of a pod', () => {
  it.each<[string, string, Pod, Partial<ObservedPod> | undefined]>([
    ['Pending', 'while nothing is there', pod(), undefined],
    ['Pending', 'while one container has never run', two('Always'), within(container({ name: 'zulu' }))],
    ['Pending', 'while its container is made', pod(), within(container({ state: 'created' }))],
    [
      'Running',
      'while one runs and the other has ended',
      two('Never'),
      within(container({ name: 'zulu' }), exited(1, 0, { name: 'alpha' })),
    ],
    ['Running', 'while what ended is to run again under Always', policy('Always'), within(exited(0))],
    ['Running', 'while what failed is to run again under OnFailure', policy('OnFailure'), within(exited(1))],
    ['Succeeded', 'when all succeeded under OnFailure', policy('OnFailure'), within(exited(0))],
    ['Succeeded', 'when all succeeded under Never', policy('Never'), within(exited(0))],
    [
      'Failed',
      'when one failed under Never',
      two('Never'),
      within(exited(0, 0, { name: 'zulu' }), exited(1, 0, { name: 'alpha' })),
    ],
  ])('is %s %s', (phase, _when, of, seen) => {
    expect(status(of, seen).phase).toBe(phase);
  });

  it('is not over as long as it goes on: what ended may be about to start again', () => {
    const running = status(policy('OnFailure'), within(container()));
    const between = status(policy('OnFailure'), within(exited(0)), { goesOn: true }, running);
    expect(between.phase).toBe('Running');
    expect(status(policy('OnFailure'), within(exited(0)), {}, between).phase).toBe('Succeeded');
  });

  it('never leaves Succeeded and Failed again', () => {
    expect(status(pod(), within(container()), {}, { phase: 'Failed', reason: 'Evicted' })).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
    });
  });
});

describe('the status of a container', () => {
  const first = (of: PodStatus) => of.containerStatuses?.[0];

  it.each<[string, Partial<ObservedPod> | undefined, object]>([
    [
      'waits for its creation while the runtime does not know it',
      undefined,
      {
        state: { waiting: { reason: 'ContainerCreating' } },
        ready: false,
        restartCount: 0,
        image: 'busybox:1',
        imageID: '',
      },
    ],
    [
      'waits without a reason while it is only made',
      within(container({ state: 'created' })),
      { state: { waiting: {} } },
    ],
    [
      'runs since it was started',
      within(container({ detail: { ...(exited(0).detail ?? never()), startedAt: NOW * 1e6 } })),
      {
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        ready: true,
        started: true,
        containerID: 'containerd://main-0',
      },
    ],
    [
      'has ended with what the runtime tells',
      within(exited(3, NOW)),
      {
        state: { terminated: { exitCode: 3, reason: 'Error', finishedAt: '2026-01-01T00:00:00Z' } },
        ready: false,
        started: false,
      },
    ],
    [
      'has Completed where the runtime has no word for success',
      within(exited(0)),
      { state: { terminated: { reason: 'Completed' } } },
    ],
    [
      'tells from the newest instance, and from the one before how that ended',
      within(
        container({ attempt: 2, annotations: { 'io.kubernetes.container.restartCount': '2' } }),
        exited(7, 0, { attempt: 1 }),
        exited(8),
      ),
      { state: { running: {} }, lastState: { terminated: { exitCode: 7 } }, restartCount: 2 },
    ],
    [
      'takes name and digest of the image from the inspection',
      within(
        container({ detail: { ...(exited(0).detail ?? never()), image: 'docker.io/b:1', imageRef: 'b@sha256:1' } }),
      ),
      { image: 'docker.io/b:1', imageID: 'b@sha256:1' },
    ],
  ])('%s', (_rule, seen, expected) => {
    expect(first(status(pod(), seen))).toMatchObject(expected);
  });

  it('shows what it waits for, and moves its end to the last state', () => {
    expect(first(status(pod(), within(exited(3)), { waiting: WAITS }))).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
      lastState: { terminated: { exitCode: 3 } },
    });
    expect(first(status(pod(), within(container()), { waiting: WAITS }))?.state?.running).toBeDefined();
  });

  it('counts one restart more where it ran and is lost, but not while the pod is being ended', () => {
    const ran = status(pod(), within(container()));
    expect(first(status(pod(), within(), {}, ran))).toMatchObject({
      lastState: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      restartCount: 1,
    });
    expect(first(status(pod(), within(), { isEnding: true }, ran))?.restartCount).toBe(0);
  });

  it('stands in the order of the names', () => {
    expect(status(two('Always')).containerStatuses?.map(({ name }) => name)).toEqual(['alpha', 'zulu']);
  });
});

describe('the conditions of a pod', () => {
  const told = (of: PodStatus): readonly string[] =>
    (of.conditions ?? []).map(({ type, status: holds, reason }) => `${type} ${holds}${reason ? ` ${reason}` : ''}`);

  it('stand in the order of the kubelet, and hold when all is well', () => {
    expect(told(status(pod(), within(container())))).toEqual([
      'PodReadyToStartContainers True',
      'Initialized True',
      'Ready True',
      'ContainersReady True',
      'PodScheduled True',
    ]);
  });

  it('name the containers that are not ready', () => {
    const of = status(two('Always'), within(container({ name: 'zulu' })));
    expect(told(of)).toContain('Ready False ContainersNotReady');
    expect(of.conditions?.find(({ type }) => type === 'Ready')?.message).toBe(
      'containers with unready status: [alpha]',
    );
  });

  it('say how a pod ended', () => {
    expect(told(status(policy('Never'), within(exited(0))))).toContain('ContainersReady False PodCompleted');
    expect(told(status(policy('Never'), within(exited(0))))).toContain('Initialized True PodCompleted');
    expect(told(status(policy('Never'), within(exited(1))))).toContain('ContainersReady False PodFailed');
  });

  it('keep their time until their status changes', () => {
    const before = status(pod(), within(exited(0)));
    const later = status(pod(), within(container()), { now: NOW + 5_000 }, before);
    const time = (of: PodStatus, type: string) => of.conditions?.find((one) => one.type === type)?.lastTransitionTime;
    expect(time(later, 'Ready')).toBe('2026-01-01T00:00:05Z');
    expect(time(later, 'PodScheduled')).toBe('2026-01-01T00:00:00Z');
  });
});

describe('nextStatus', () => {
  it('gives the very same object for equal facts', () => {
    const before = status(pod(), within(container()));
    expect(status(pod(), within(container()), { now: NOW + 1_000 }, before)).toBe(before);
  });

  it('has the addresses of the pod while its sandbox is ready, those of the node on its network', () => {
    expect(status(pod(), within(container()))).toMatchObject({ podIP: '10.0.0.7', hostIP: '192.0.2.2' });
    expect(status(pod({ spec: { hostNetwork: true } }), within(container())).podIP).toBe('192.0.2.2');
    expect(status(pod(), { sandboxes: [sandbox({ state: 'notReady' })] }).podIP).toBeUndefined();
  });

  it('never changes when the pod started', () => {
    const before = status(pod(), undefined);
    expect(status(pod(), within(container()), { now: NOW + 9_000 }, before).startTime).toBe(before.startTime);
  });
});

function never(): never {
  throw new Error('a container that ended has a detail');
}

it('keeps the QoS class with which the pod began, whatever an edit asks for', () => {
  const guaranteed = pod({
    spec: { containers: [wanted('main', { resources: { limits: { cpu: '1', memory: '1Mi' } } })] },
  });
  const before = status(pod(), within(container()));
  expect(before.qosClass).toBe('BestEffort');
  expect(status(guaranteed, within(container()), {}, before).qosClass).toBe('BestEffort');
});

describe('PodReadyToStartContainers', () => {
  const onHost = pod({ spec: { hostNetwork: true } });
  it.each<[string, ReturnType<typeof pod>, Parameters<typeof sandbox>[0], string]>([
    ['holds with a sandbox that is ready', pod(), {}, 'True'],
    ['does not hold once the sandbox has ended', pod(), { state: 'notReady' }, 'False'],
    ['does not hold from the edit on that asks for another network', onHost, { hostNetwork: false }, 'False'],
    ['holds on the network of the node', onHost, { hostNetwork: true }, 'True'],
    ['does not hold while the sandbox has no address', pod(), { ips: [] }, 'False'],
  ])('%s', (_rule, of, how, holds) => {
    const told = status(of, { sandboxes: [sandbox(how)], containers: [container()] });
    expect(told.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status).toBe(holds);
  });
});
