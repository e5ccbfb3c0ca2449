import { describe, expect, it } from 'vitest';
import type { ObservedContainer, ObservedPod } from '../../../../src/model/observed.ts';
import type { Container, Pod, PodStatus } from '../../../../src/model/pod.ts';
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
  const init = (restartPolicy: string, ...initContainers: readonly Container[]): Pod =>
    pod({ spec: { restartPolicy, initContainers } });
  const side = wanted('side', { restartPolicy: 'Always' });
  const probedSide = { ...side, startupProbe: { exec: { command: ['true'] } } };
  const done = exited(0, 0, { name: 'i' });
  const failed = exited(1, 0, { name: 'i' });

  it.each<[rule: string, phase: string, of: Pod, seen: Partial<ObservedPod> | undefined]>([
    ['is Pending while nothing of the pod is there', 'Pending', pod(), undefined],
    ['is Pending while one container has never run', 'Pending', two('Always'), within(container({ name: 'zulu' }))],
    ['is Pending while its container is only made', 'Pending', pod(), within(container({ state: 'created' }))],
    [
      'is Pending while nobody knows the state of a container that never ran',
      'Pending',
      pod(),
      within(container({ state: 'unknown' })),
    ],
    [
      'is Pending while an init container runs',
      'Pending',
      init('Always', wanted('i')),
      within(container({ name: 'i' })),
    ],
    ['is Pending while an init container is to run again', 'Pending', init('Always', wanted('i')), within(failed)],
    [
      'is Failed when an init container failed that may not run again',
      'Failed',
      init('Never', wanted('i')),
      within(failed),
    ],
    [
      'is Failed when an init container failed under a policy Never of its own',
      'Failed',
      init('Always', wanted('i', { restartPolicy: 'Never' })),
      within(failed),
    ],
    [
      'is Pending while a sidecar has not started in a pod that has not begun',
      'Pending',
      init('Always', probedSide),
      within(container({ name: 'side' })),
    ],
    [
      'is Running though a sidecar has not started in a pod that has begun',
      'Running',
      init('Always', probedSide),
      within(container(), container({ name: 'side' })),
    ],
    [
      'is Running though an init container is gone from a pod that has begun',
      'Running',
      init('Always', wanted('i')),
      within(container()),
    ],
    [
      'is Running while one container runs and the other has ended',
      'Running',
      two('Never'),
      within(container({ name: 'zulu' }), exited(1, 0, { name: 'alpha' })),
    ],
    ['is Running while what succeeded is to run again under Always', 'Running', policy('Always'), within(exited(0))],
    ['is Running while what failed is to run again under OnFailure', 'Running', policy('OnFailure'), within(exited(1))],
    [
      'is Running while one of two that ended is to run again under OnFailure',
      'Running',
      two('OnFailure'),
      within(exited(0, 0, { name: 'zulu' }), exited(1, 0, { name: 'alpha' })),
    ],
    ['is Succeeded when all succeeded under OnFailure', 'Succeeded', policy('OnFailure'), within(exited(0))],
    ['is Succeeded when all succeeded under Never', 'Succeeded', policy('Never'), within(exited(0))],
    [
      'is Failed when one failed under Never',
      'Failed',
      two('Never'),
      within(exited(0, 0, { name: 'zulu' }), exited(1, 0, { name: 'alpha' })),
    ],
    [
      'is Succeeded whatever its sidecars ended with',
      'Succeeded',
      init('Never', side),
      within(exited(0), exited(9, 0, { name: 'side' })),
    ],
    [
      'is Running while a sidecar runs though all else has ended',
      'Running',
      init('Never', wanted('i'), side),
      within(exited(0), container({ name: 'side' }), done),
    ],
  ])('%s', (_rule, phase, of, seen) => {
    expect(status(of, seen).phase).toBe(phase);
  });

  it('is Running while a container that has ended before waits for its restart', () => {
    expect(status(pod(), within(exited(3)), { waiting: WAITS })).toMatchObject({
      phase: 'Running',
      containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }],
    });
  });

  it('is what is said of the pod as a whole, with its reason and message, though containers still run', () => {
    const verdict = { phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' } as const;
    expect(status(pod(), within(container()), { verdict })).toMatchObject(verdict);
  });

  it('keeps its reason and message as long as it stays the same', () => {
    const before = { phase: 'Pending', reason: 'Why', message: 'so' };
    expect(status(pod(), undefined, {}, before)).toMatchObject(before);
    const of = status(pod(), within(container()), {}, before);
    expect([of.phase, of.reason, of.message]).toEqual(['Running', undefined, undefined]);
  });

  it('is neither Succeeded nor Failed as long as there is work on the pod', () => {
    const running = status(policy('OnFailure'), within(container()));
    const between = status(policy('OnFailure'), within(exited(0)), { goesOn: true }, running);
    expect(between.phase).toBe('Running');
    expect(status(policy('OnFailure'), within(exited(0)), {}, between).phase).toBe('Succeeded');
  });

  it('never leaves Succeeded or Failed', () => {
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
      'waits as ContainerCreating while the runtime has no trace of it',
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
      'waits without a reason while it is made and not started',
      within(container({ state: 'created' })),
      { state: { waiting: {} } },
    ],
    [
      'runs since the runtime started it',
      within(container({ detail: { ...(exited(0).detail ?? never()), startedAt: NOW * 1e6 } })),
      {
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        ready: true,
        started: true,
        containerID: 'containerd://main-0',
      },
    ],
    [
      'has ended as Error where the runtime has no word for failure',
      within(exited(3, NOW)),
      {
        state: { terminated: { exitCode: 3, reason: 'Error', finishedAt: '2026-01-01T00:00:00Z' } },
        ready: false,
        started: false,
      },
    ],
    [
      'has ended as Completed where the runtime has no word for success',
      within(exited(0)),
      { state: { terminated: { reason: 'Completed' } } },
    ],
    [
      'tells the state of the newest instance, how the one before ended, and the restarts from the annotation',
      within(
        container({ attempt: 2, annotations: { 'io.kubernetes.container.restartCount': '2' } }),
        exited(7, 0, { attempt: 1 }),
        exited(8),
      ),
      { state: { running: {} }, lastState: { terminated: { exitCode: 7 } }, restartCount: 2 },
    ],
    [
      'has ended with all that the runtime tells',
      within(
        container({
          state: 'exited',
          detail: {
            ...(exited(137).detail ?? never()),
            startedAt: NOW * 1e6,
            finishedAt: (NOW + 1_000) * 1e6,
            reason: 'OOMKilled',
            message: 'last words',
          },
        }),
      ),
      {
        state: {
          terminated: {
            exitCode: 137,
            reason: 'OOMKilled',
            message: 'last words',
            startedAt: '2026-01-01T00:00:00Z',
            finishedAt: '2026-01-01T00:00:01Z',
            containerID: 'containerd://main-0',
          },
        },
      },
    ],
    [
      'waits without a reason while nobody knows its state, and it was not seen running',
      within(container({ state: 'unknown' })),
      { state: { waiting: {} }, restartCount: 0 },
    ],
    [
      'tells the image and its id as the runtime does',
      within(
        container({ detail: { ...(exited(0).detail ?? never()), image: 'docker.io/b:1', imageRef: 'b@sha256:1' } }),
      ),
      { image: 'docker.io/b:1', imageID: 'b@sha256:1' },
    ],
  ])('%s', (_rule, seen, expected) => {
    expect(first(status(pod(), seen))).toMatchObject(expected);
  });

  it('waits as PodInitializing in a pod with init containers', () => {
    const of = pod({ spec: { initContainers: [wanted('i')] } });
    expect(first(status(of, undefined))?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
  });

  it('has ended as ContainerStatusUnknown 137 where it ran and nobody knows its state any more', () => {
    const ran = status(pod(), within(container()));
    expect(first(status(pod(), within(container({ state: 'unknown' })), {}, ran))).toMatchObject({
      state: {
        terminated: {
          exitCode: 137,
          reason: 'ContainerStatusUnknown',
          message: 'The container could not be located when the pod was terminated',
        },
      },
      restartCount: 1,
    });
  });

  it('cuts the last words of each container to an even share of 12 KiB', () => {
    const wordy = (name: string): ObservedContainer =>
      exited(1, 0, { name, detail: { ...(exited(1).detail ?? never()), message: 'x'.repeat(9_000) } });
    const of = pod({
      names: ['a', 'b'],
      spec: { containers: [wanted('a'), wanted('b')], initContainers: [wanted('i')] },
    });
    const told = status(of, within(wordy('a'), wordy('b'), exited(0, 0, { name: 'i' })));
    const lengths = told.containerStatuses?.map(({ state }) => state?.terminated?.message?.length);
    expect(lengths).toEqual([4_096, 4_096]);
    expect(first(status(pod(), within(wordy('main'))))?.state?.terminated?.message).toHaveLength(9_000);
  });

  it('tells what it requests and may use, the limit of memory in bytes', () => {
    const resources = { requests: { cpu: '100m', memory: '1M' }, limits: { cpu: '1', memory: '12M' } };
    const told = first(status(pod({ spec: { containers: [wanted('main', { resources })] } }), within(container())));
    expect(told).toMatchObject({
      allocatedResources: resources.requests,
      resources: { requests: resources.requests, limits: { cpu: '1', memory: '12000000' } },
    });
  });

  const probe = { exec: { command: ['true'] } };
  it.each<[string, Partial<Container>, { started: boolean; ready: boolean } | undefined, boolean, boolean]>([
    ['is started and ready without probes as soon as it runs', {}, undefined, true, true],
    ['is not started while its startup probe has not succeeded', { startupProbe: probe }, undefined, false, false],
    [
      'is started once its startup probe has succeeded',
      { startupProbe: probe },
      { started: true, ready: true },
      true,
      true,
    ],
    ['is not ready while its readiness probe has no result', { readinessProbe: probe }, undefined, true, false],
    [
      'is not ready while its readiness probe fails',
      { readinessProbe: probe },
      { started: true, ready: false },
      true,
      false,
    ],
    [
      'is ready once its readiness probe has succeeded',
      { readinessProbe: probe },
      { started: true, ready: true },
      true,
      true,
    ],
    ['is started without a result of a liveness probe', { livenessProbe: probe }, undefined, true, true],
  ])('%s', (_rule, probes, result, started, ready) => {
    const of = pod({ spec: { containers: [wanted('main', probes)] } });
    const probed = new Map(result ? [['main', result]] : []);
    expect(first(status(of, within(container()), { probed }))).toMatchObject({ started, ready });
  });

  it('stays started and ready as it was told, until its probes have spoken, and only the same instance', () => {
    const of = pod({ spec: { containers: [wanted('main', { startupProbe: probe, readinessProbe: probe })] } });
    const probed = new Map([['main', { started: true, ready: true }]]);
    const before = status(of, within(container()), { probed });
    expect(first(status(of, within(container()), {}, before))).toMatchObject({ started: true, ready: true });
    const next = first(status(of, within(container({ attempt: 1 })), {}, before));
    expect(next).toMatchObject({ started: false, ready: false });
  });

  it('is told as before while it is being started with its postStart hook', () => {
    const starting = new Set(['main']);
    expect(first(status(pod(), within(container()), { starting }))?.state).toEqual({
      waiting: { reason: 'ContainerCreating' },
    });
    const before = status(pod(), within(exited(1)));
    expect(first(status(pod(), within(container({ attempt: 1 }), exited(1)), { starting }, before))).toEqual(
      first(before),
    );
  });

  it('names its id by the runtime', () => {
    expect(first(status(pod(), within(container()), { runtimeName: 'cri-o' }))?.containerID).toBe('cri-o://main-0');
  });

  it.each<[string, Partial<ObservedContainer>, boolean]>([
    ['is not ready as an init container that runs', {}, false],
    ['is ready as an init container that has succeeded', exited(0), true],
    ['is not ready as an init container that has failed', exited(1), false],
  ])('%s', (_rule, how, ready) => {
    const of = pod({ spec: { initContainers: [wanted('i')] } });
    const seen = within({ ...container(how), id: 'i-0', name: 'i' });
    expect(status(of, seen).initContainerStatuses?.[0]?.ready).toBe(ready);
  });

  it('waits for what keeps it from starting again, and moves its end to the last state', () => {
    expect(first(status(pod(), within(exited(3)), { waiting: WAITS }))).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
      lastState: { terminated: { exitCode: 3 } },
    });
    expect(first(status(pod(), within(container()), { waiting: WAITS }))?.state?.running).toBeDefined();
  });

  it('has ended as ContainerStatusUnknown 137 where it ran and is lost, and counts a restart unless the pod is being ended', () => {
    const ran = status(pod(), within(container()));
    expect(first(status(pod(), within(), {}, ran))).toMatchObject({
      state: { waiting: { reason: 'ContainerCreating' } },
      lastState: {
        terminated: {
          exitCode: 137,
          reason: 'ContainerStatusUnknown',
          message: 'The container could not be located when the pod was deleted.  The container used to be Running',
        },
      },
      restartCount: 1,
    });
    expect(first(status(pod(), within(), { isEnding: true }, ran))?.restartCount).toBe(0);
  });

  it('stands in the order of the names among regular containers, in that of the spec among init containers', () => {
    expect(status(two('Always')).containerStatuses?.map(({ name }) => name)).toEqual(['alpha', 'zulu']);
    const of = pod({ spec: { initContainers: [wanted('zulu'), wanted('alpha')] } });
    expect(status(of).initContainerStatuses?.map(({ name }) => name)).toEqual(['zulu', 'alpha']);
  });
});

describe('a pod whose rule restarts all of its containers', () => {
  const all = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } };
  const of = pod({ spec: { restartPolicy: 'Never', containers: [wanted('main', { restartPolicyRules: [all] })] } });
  const ran = status(of, within(container()));
  const condition = (told: PodStatus): unknown =>
    told.conditions?.find(({ type }) => type === 'AllContainersRestarting');

  it('tells AllContainersRestarting, which holds from the end that asks for it on until its traces are gone', () => {
    expect(condition(ran)).toMatchObject({ status: 'False' });
    const asking = status(of, within(exited(42)), {}, ran);
    expect(condition(asking)).toMatchObject({ status: 'True', reason: 'RestartAllContainersStarted' });
    expect(asking.phase).toBe('Running');
    expect(condition(status(of, within(), {}, asking))).toMatchObject({ status: 'False' });
    expect(condition(status(pod(), within(container())))).toBeUndefined();
  });

  it('shows its containers as RestartingAllContainers while it begins anew, and counts a restart', () => {
    const asking = status(of, within(exited(42)), {}, ran);
    expect(status(of, within(), {}, asking).containerStatuses).toMatchObject([
      {
        state: { waiting: { reason: 'RestartingAllContainers' } },
        lastState: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } },
        restartCount: 1,
      },
    ]);
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
