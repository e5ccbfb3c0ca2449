import { describe, expect, it } from 'vitest';
import type { Container, Pod, PodSpec, PodStatus } from '../../../../src/model/pod.ts';
import type { StatusFacts } from '../../../../src/model/status/status-facts.ts';
import { container, observed, pod, sandbox, wanted } from '../../../marbles/fakes.ts';
import { after, ended, runs, statusOf, tell, within } from './facts.ts';

/** Statuses as the kubelet 1.36.2 served them last in the cases named, from what the runtime held at that time. */
type Recorded = readonly [
  name: string,
  of: Pod,
  known: Partial<StatusFacts>,
  status: readonly string[],
  previous?: PodStatus,
];

const spec = (names: readonly string[], more: Partial<PodSpec> = {}): Pod =>
  pod({ spec: { containers: names.map((name) => wanted(name)), ...more } });
const init = (initContainers: readonly Container[], more: Partial<PodSpec> = {}): Pod =>
  spec(['main'], { initContainers, ...more });
const side = (name: string): Container => wanted(name, { restartPolicy: 'Always' });
const never = { restartPolicy: 'Never' };
const waits = (name: string, reason: string, message = ''): Pick<StatusFacts, 'waiting'> => ({
  waiting: new Map([[name, { reason, message }]]),
});

const UP = ['PodReadyToStartContainers True', 'Initialized True'];
const READY = [...UP, 'Ready True', 'ContainersReady True'];
const UNREADY = [...UP, 'Ready False ContainersNotReady', 'ContainersReady False ContainersNotReady'];
const STARTING = [
  'PodReadyToStartContainers True',
  'Initialized False ContainersNotInitialized',
  'Ready False ContainersNotReady',
  'ContainersReady False ContainersNotReady',
];
const completed = (hasSandbox: boolean): readonly string[] => [
  `PodReadyToStartContainers ${hasSandbox ? 'True' : 'False'}`,
  'Initialized True PodCompleted',
  'Ready False PodCompleted',
  'ContainersReady False PodCompleted',
];
const failed = (hasSandbox: boolean): readonly string[] => [
  `PodReadyToStartContainers ${hasSandbox ? 'True' : 'False'}`,
  'Initialized True',
  'Ready False PodFailed',
  'ContainersReady False PodFailed',
];

const restartAll = spec(['peer'], {
  ...never,
  initContainers: [wanted('i')],
  containers: [
    wanted('main', {
      ...never,
      restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
    }),
    wanted('peer'),
  ],
});
const begun = statusOf(restartAll, { observed: within(runs('peer'), runs('main'), ended('i', 0)) });
const asking = statusOf(restartAll, { observed: within(runs('peer'), ended('main', 42), ended('i', 0)) }, begun);
const emptied = statusOf(restartAll, { observed: within() }, asking);
const anew = statusOf(restartAll, { observed: within(runs('i', 1)) }, emptied);

const groups: Readonly<Record<string, readonly Recorded[]>> = {
  init: [
    [
      '01-sequence',
      init([wanted('first'), wanted('second')]),
      { observed: within(runs('main'), ended('second', 0), ended('first', 0)) },
      ['Running', ...READY, 'first: Completed 0 0 R', 'second: Completed 0 0 R', 'main: running 0 R S'],
    ],
    [
      '02-fail-always',
      init([wanted('broken'), wanted('never')]),
      { observed: within(ended('broken', 4, 2), ended('broken', 4, 1)) },
      [
        'Pending',
        ...STARTING,
        'broken: Error 4 2 after Error 4',
        'never: waiting PodInitializing 0',
        'main: waiting PodInitializing 0',
      ],
    ],
    [
      '04-fail-never',
      init([wanted('broken'), wanted('never')], never),
      { observed: within(ended('broken', 6)) },
      [
        'Failed',
        'PodReadyToStartContainers True',
        'Initialized False ContainersNotInitialized',
        'Ready False PodFailed',
        'ContainersReady False PodFailed',
        'broken: Error 6 0',
        'never: waiting PodInitializing 0',
        'main: waiting PodInitializing 0',
      ],
    ],
    [
      '05-image-missing',
      init([wanted('lost')]),
      { observed: within(), ...waits('lost', 'ErrImagePull') },
      ['Pending', ...STARTING, 'lost: waiting ErrImagePull 0', 'main: waiting PodInitializing 0'],
    ],
    [
      '07-init-after-main-restart',
      init([wanted('once')]),
      {
        observed: within(ended('main', 1, 1), ended('main', 1), ended('once', 0)),
        ...waits('main', 'CrashLoopBackOff'),
      },
      ['Running', ...UNREADY, 'once: Completed 0 0 R', 'main: waiting CrashLoopBackOff 1 after Error 1'],
    ],
    [
      '08-succeeded-never',
      init([wanted('once')], never),
      { observed: within(ended('main', 0), ended('once', 0)) },
      ['Succeeded', ...completed(true), 'once: Completed 0 0 R', 'main: Completed 0 0'],
    ],
  ],
  sidecars: [
    [
      '01-order',
      init([wanted('one'), side('side'), wanted('two')]),
      { observed: within(runs('main'), ended('two', 0), runs('side'), ended('one', 0)) },
      [
        'Running',
        ...READY,
        'one: Completed 0 0 R',
        'side: running 0 R S',
        'two: Completed 0 0 R',
        'main: running 0 R S',
      ],
    ],
    [
      '01-order, while the sidecar runs and what follows it does not',
      init([side('s1'), side('s2')]),
      { observed: within(runs('s1')) },
      ['Pending', ...STARTING, 's1: running 0 R S', 's2: waiting PodInitializing 0', 'main: waiting PodInitializing 0'],
    ],
    [
      '02-startup-probe, before it has started',
      init([wanted('side', { restartPolicy: 'Always', startupProbe: {} }), wanted('after')]),
      { observed: within(runs('side')) },
      [
        'Pending',
        ...STARTING,
        'side: running 0',
        'after: waiting PodInitializing 0',
        'main: waiting PodInitializing 0',
      ],
    ],
    [
      '02-startup-probe',
      init([wanted('side', { restartPolicy: 'Always', startupProbe: {} }), wanted('after')]),
      {
        observed: within(runs('main'), ended('after', 0), runs('side')),
        probed: new Map([['side', { started: true, ready: true }]]),
      },
      ['Running', ...READY, 'side: running 0 R S', 'after: Completed 0 0 R', 'main: running 0 R S'],
    ],
    [
      '04-restart',
      init([side('side')], never),
      { observed: within(ended('side', 3, 2), runs('main'), ended('side', 3, 1)) },
      ['Running', ...UNREADY, 'side: Error 3 2 after Error 3', 'main: running 0 R S'],
    ],
    [
      '05-never-end, while its sidecars still run',
      init([side('s1'), side('s2')], never),
      { observed: within(ended('main', 0), runs('s2'), runs('s1')) },
      ['Running', ...UNREADY, 's1: running 0 R S', 's2: running 0 R S', 'main: Completed 0 0'],
    ],
    [
      '05-never-end',
      init([side('s1'), side('s2')], never),
      { observed: after(ended('main', 0), ended('s2', 0), ended('s1', 0)) },
      ['Succeeded', ...completed(false), 's1: Completed 0 0', 's2: Completed 0 0', 'main: Completed 0 0'],
    ],
    [
      '07-never-end-sidecar-code',
      init([side('s1')], never),
      { observed: after(ended('main', 0), ended('s1', 9)) },
      ['Succeeded', ...completed(false), 's1: Error 9 0', 'main: Completed 0 0'],
    ],
    [
      '08-liveness',
      init([side('side')]),
      {
        observed: within(ended('side', 137, 2), runs('main'), ended('side', 137, 1)),
        ...waits('side', 'CrashLoopBackOff'),
      },
      ['Running', ...UNREADY, 'side: waiting CrashLoopBackOff 2 after Error 137', 'main: running 0 R S'],
    ],
  ],
  restart: [
    [
      '01-always-exit0',
      spec(['main']),
      { observed: within(ended('main', 0, 2), ended('main', 0, 1)) },
      ['Running', ...UNREADY, 'main: Completed 0 2 after Completed 0'],
    ],
    [
      '05-never-exit0',
      spec(['main'], never),
      { observed: after(ended('main', 0)) },
      ['Succeeded', ...completed(false), 'main: Completed 0 0'],
    ],
    [
      '08-command-not-found',
      spec(['main']),
      { observed: within(ended('main', 128, 2, 'StartError', 'no such file')), ...waits('main', 'RunContainerError') },
      ['Running', ...UNREADY, 'main: waiting RunContainerError 2 after StartError 128'],
    ],
    [
      '10-not-executable',
      spec(['main'], never),
      { observed: within(ended('main', 128, 0, 'StartError')) },
      ['Failed', ...failed(true), 'main: StartError 128 0'],
    ],
    [
      '11-one-of-two',
      spec(['main', 'steady']),
      { observed: within(ended('main', 1, 2), runs('steady'), ended('main', 1, 1)) },
      ['Running', ...UNREADY, 'main: Error 1 2 after Error 1', 'steady: running 0 R S'],
    ],
    [
      '13-onfailure-two, sorted by name',
      spec(['main', 'again'], { restartPolicy: 'OnFailure' }),
      { observed: within(ended('again', 3, 2), ended('again', 3, 1), ended('main', 0)) },
      ['Running', ...UNREADY, 'again: Error 3 2 after Error 3', 'main: Completed 0 0'],
    ],
    [
      '14-killed-by-signal',
      spec(['segv', 'out'], never),
      { observed: within(ended('out', 255), ended('segv', 139)) },
      ['Failed', ...failed(true), 'out: Error 255 0', 'segv: Error 139 0'],
    ],
    [
      '16-container-policy-onfailure',
      pod({ spec: { ...never, containers: [wanted('main', { restartPolicy: 'OnFailure' }), wanted('steady')] } }),
      { observed: within(runs('main', 2), ended('main', 3, 1), runs('steady')) },
      ['Running', ...READY, 'main: running 2 R S after Error 3', 'steady: running 0 R S'],
    ],
    [
      '17-restart-rules, while its rule restarts it',
      pod({ spec: { ...never, containers: [ruled(42)] } }),
      { observed: within(ended('main', 42)) },
      ['Running', ...UNREADY, 'main: Error 42 0'],
    ],
    [
      '17-restart-rules',
      pod({ spec: { ...never, containers: [ruled(42)] } }),
      { observed: after(ended('main', 7, 1), ended('main', 42)) },
      ['Failed', ...failed(false), 'main: Error 7 1 after Error 42'],
    ],
    [
      '19-restart-all-containers, when a container asks for it',
      restartAll,
      { observed: within(runs('peer'), ended('main', 42), ended('i', 0)) },
      [
        'Running',
        ...UNREADY,
        'AllContainersRestarting True RestartAllContainersStarted',
        'i: Completed 0 0 R',
        'main: Error 42 0',
        'peer: running 0 R S',
      ],
      begun,
    ],
    [
      '19-restart-all-containers, when it begins anew',
      restartAll,
      { observed: within(runs('i', 1)) },
      [
        'Pending',
        ...UNREADY,
        'AllContainersRestarting False',
        'i: running 1 S after RestartingAllContainers 137',
        'main: waiting PodInitializing 1 after RestartingAllContainers 137',
        'peer: waiting PodInitializing 1 after RestartingAllContainers 137',
      ],
      emptied,
    ],
    [
      '19-restart-all-containers, when its init container has ended again',
      restartAll,
      { observed: within(ended('i', 0, 1)) },
      [
        'Running',
        ...UNREADY,
        'AllContainersRestarting False',
        'i: Completed 0 1 R after RestartingAllContainers 137',
        'main: waiting PodInitializing 1 after RestartingAllContainers 137',
        'peer: waiting PodInitializing 1 after RestartingAllContainers 137',
      ],
      anew,
    ],
    [
      '19-restart-all-containers',
      restartAll,
      { observed: within(runs('peer', 1), runs('main', 1), ended('i', 0, 1)) },
      [
        'Running',
        ...READY,
        'AllContainersRestarting False',
        'i: Completed 0 1 R after RestartingAllContainers 137',
        'main: running 1 R S after RestartingAllContainers 137',
        'peer: running 1 R S after RestartingAllContainers 137',
      ],
      anew,
    ],
    [
      '22-container-removed-behind, before it runs again',
      spec(['main']),
      { observed: within() },
      ['Running', ...UNREADY, 'main: waiting ContainerCreating 1 after ContainerStatusUnknown 137'],
      statusOf(spec(['main']), { observed: within(runs('main')) }),
    ],
    [
      '22-container-removed-behind',
      spec(['main']),
      { observed: within(runs('main', 1)) },
      ['Running', ...READY, 'main: running 1 R S after ContainerStatusUnknown 137'],
      statusOf(spec(['main']), { observed: within() }, statusOf(spec(['main']), { observed: within(runs('main')) })),
    ],
  ],
  lifecycle: [
    [
      '02-poststart-fail',
      spec(['main']),
      { observed: within(ended('main', 137, 1), ended('main', 137)), ...waits('main', 'PostStartHookError') },
      ['Running', ...UNREADY, 'main: waiting PostStartHookError 1 after Error 137'],
    ],
    [
      '25-delete-imagepull',
      spec(['main']),
      { observed: within(), ...waits('main', 'ErrImagePull') },
      ['Pending', ...UNREADY, 'main: waiting ErrImagePull 0'],
    ],
    [
      '26-delete-and-again',
      spec(['main']),
      {
        observed: observed({
          sandboxes: [sandbox({ attempt: 1 }), sandbox({ state: 'notReady' })],
          containers: [container({ attempt: 1, sandboxId: 's-1' }), ended('main', 137)],
        }),
      },
      ['Running', ...READY, 'main: running 1 R S after Error 137'],
    ],
    [
      '28-active-deadline',
      spec(['main'], { activeDeadlineSeconds: 6 }),
      {
        observed: after(ended('main', 0)),
        verdict: {
          phase: 'Failed',
          reason: 'DeadlineExceeded',
          message: 'Pod was active on the node longer than the specified deadline',
        },
      },
      ['Failed DeadlineExceeded', ...failed(false), 'main: Completed 0 0'],
    ],
    [
      '29-prestop-on-natural-end',
      spec(['main'], never),
      { observed: after(ended('main', 0)) },
      ['Succeeded', ...completed(false), 'main: Completed 0 0'],
    ],
  ],
  update: [
    [
      '04-uid-image',
      spec(['main']),
      { observed: within(runs('main', 1), ended('main', 137)) },
      ['Running', ...READY, 'main: running 1 R S after Error 137'],
    ],
    [
      '20-uid-succeeded-edit',
      pod({ spec: { ...never, containers: [wanted('main', { image: 'busybox:2' })] } }),
      { observed: after(ended('main', 0)) },
      ['Succeeded', ...completed(false), 'main: Completed 0 0'],
      statusOf(spec(['main'], never), { observed: within(ended('main', 0)) }),
    ],
  ],
  oom: [
    [
      '01-oom-restart',
      spec(['eater']),
      { observed: within(ended('eater', 137, 2, 'OOMKilled'), ended('eater', 137, 1, 'OOMKilled')) },
      ['Running', ...UNREADY, 'eater: OOMKilled 137 2 after OOMKilled 137'],
    ],
    [
      '02-oom-never',
      spec(['eater', 'calm'], never),
      { observed: after(ended('eater', 137, 0, 'OOMKilled'), ended('calm', 0)) },
      ['Failed', ...failed(false), 'calm: Completed 0 0', 'eater: OOMKilled 137 0'],
    ],
  ],
};

function ruled(code: number): Container {
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [code] } };
  return wanted('main', { restartPolicy: 'Never', restartPolicyRules: [rule] });
}

describe('nextStatus, from what the runtime held when the kubelet was recorded', () => {
  describe.each(Object.entries(groups))('%s', (_group, recorded) => {
    it.each(recorded.map((one) => [one[0], one] as const))('%s', (_name, [, of, known, status, previous]) => {
      expect(tell(statusOf(of, known, previous))).toEqual(status);
    });
  });

  it('equals the record to the last field (sidecars/01-order, oom/02-oom-never)', () => {
    const image = 'docker.io/library/busybox:1.35';
    const user = { uid: 0, gid: 0, supplementalGroups: [0] };
    const detail = {
      startedAt: 1e9,
      finishedAt: 2e9,
      exitCode: 137,
      reason: 'OOMKilled',
      message: '',
      logPath: '',
      image,
      imageRef: 'busybox@sha256:1',
      user,
    };
    const of = spec(['eater'], {
      ...never,
      containers: [wanted('eater', { resources: { limits: { memory: '24Mi' }, requests: { memory: '24Mi' } } })],
    });
    expect(statusOf(of, { observed: after(container({ name: 'eater', state: 'exited', detail })) })).toEqual({
      phase: 'Failed',
      conditions: [
        { type: 'PodReadyToStartContainers', status: 'False', lastTransitionTime: '2026-01-01T00:01:00Z' },
        { type: 'Initialized', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' },
        { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:01:00Z', reason: 'PodFailed' },
        { type: 'ContainersReady', status: 'False', lastTransitionTime: '2026-01-01T00:01:00Z', reason: 'PodFailed' },
        { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' },
      ],
      startTime: '1970-01-01T00:00:00Z',
      containerStatuses: [
        {
          name: 'eater',
          state: {
            terminated: {
              exitCode: 137,
              reason: 'OOMKilled',
              startedAt: '1970-01-01T00:00:01Z',
              finishedAt: '1970-01-01T00:00:02Z',
              containerID: 'containerd://eater-0',
            },
          },
          lastState: {},
          ready: false,
          restartCount: 0,
          image,
          imageID: 'busybox@sha256:1',
          containerID: 'containerd://eater-0',
          started: false,
          allocatedResources: { memory: '24Mi' },
          resources: { limits: { memory: '24Mi' }, requests: { memory: '24Mi' } },
          user: { linux: user },
        },
      ],
      qosClass: 'Burstable',
      allocatedResources: { memory: '24Mi' },
      resources: { limits: { memory: '24Mi' }, requests: { memory: '24Mi' } },
    });
  });
});
