import { describe, expect, it } from 'vitest';
import { containerHash } from '../../../src/model/container-hash.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import { containerConfig, type Making } from '../../../src/runtime/container-config.ts';
import { context, IMAGE, pod, wanted } from '../../marbles/fakes.ts';
import * as recorded from './recorded.ts';
import { onWire } from './wire-form.ts';

const RESOURCES = { cpuPeriod: 100_000, cpuShares: 2, oomScoreAdj: 1_000, hugepageLimits: [{ pageSize: '2MB' }] };
const POD_DIR = `${recorded.ROOT}/pods/${recorded.UID}`;
const LAST_MOUNTS = [
  { containerPath: '/etc/hosts', hostPath: `${POD_DIR}/etc-hosts` },
  { containerPath: '/dev/termination-log', hostPath: recorded.TERMINATION_LOG },
];

interface Recording {
  readonly pod: Pod;
  readonly name: string;
  readonly hash: string;
  readonly grace?: string;
  readonly more?: object;
  readonly annotations?: object;
  readonly resources?: object;
  readonly namespaceOptions?: object;
}

function recordedConfig({ pod: of, name, hash, grace = '1', more, annotations, ...linux }: Recording): object {
  return {
    metadata: { name },
    image: { image: 'sha256:1', userSpecifiedImage: 'busybox:1.35' },
    command: ['sleep', '3000'],
    mounts: LAST_MOUNTS,
    labels: {
      'io.kubernetes.container.name': name,
      'io.kubernetes.pod.name': of.metadata.name,
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': recorded.UID,
    },
    annotations: {
      'io.kubernetes.container.hash': hash,
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': grace,
      ...annotations,
    },
    logPath: `${name}/0.log`,
    linux: {
      resources: linux.resources ?? RESOURCES,
      securityContext: {
        namespaceOptions: linux.namespaceOptions ?? { pid: 'CONTAINER', usernsOptions: { mode: 'NODE' } },
        runAsUser: {},
        maskedPaths: [
          '/proc/asound',
          '/proc/acpi',
          '/proc/interrupts',
          '/proc/kcore',
          '/proc/keys',
          '/proc/latency_stats',
          '/proc/timer_list',
          '/proc/timer_stats',
          '/proc/sched_debug',
          '/proc/scsi',
          '/sys/firmware',
          '/sys/devices/virtual/powercap',
        ],
        readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
        seccomp: { profileType: 'Unconfined' },
      },
    },
    ...more,
  };
}

function made(more: Partial<Making> = {}): Making {
  return { restartCount: 0, image: { ref: 'sha256:1' }, environment: new Map(), terminationLog: '/log', ...more };
}

const emptyDir = (volume: string): string => `${POD_DIR}/volumes/kubernetes.io~empty-dir/${volume}`;

describe('containerConfig', () => {
  it.each<[string, Recording]>([
    ['basics/01-minimal', { pod: recorded.MINIMAL, name: 'only', hash: '9b3f600a', grace: '30' }],
    [
      'basics/10-three-containers (zulu)',
      { pod: recorded.TRIO, name: 'zulu', hash: '9f9ef83c', more: { command: [], args: ['sleep', '3000'] } },
    ],
    [
      'basics/10-three-containers (alpha)',
      {
        pod: recorded.TRIO,
        name: 'alpha',
        hash: '80f96b5b',
        more: {
          command: [],
          args: ['sleep', '3000'],
          image: { image: 'sha256:1', userSpecifiedImage: 'busybox:1.36' },
        },
      },
    ],
    [
      'basics/10-three-containers (mike)',
      { pod: recorded.TRIO, name: 'mike', hash: 'b136e892', more: { command: [], args: ['sleep', '3000'] } },
    ],
    [
      'ports/02-hostport',
      {
        pod: recorded.HOST_PORT,
        name: 'main',
        hash: 'fa250d96',
        annotations: {
          'io.kubernetes.container.ports': '[{"hostPort":18080,"containerPort":8080,"protocol":"TCP"}]',
        },
      },
    ],
    [
      'namespaces/01-hostnetwork',
      {
        pod: recorded.HOST_NETWORK,
        name: 'main',
        hash: 'fa250d96',
        namespaceOptions: { network: 'NODE', pid: 'CONTAINER', usernsOptions: { mode: 'NODE' } },
        more: { command: ['sh', '-c', 'hostname; cat /etc/hosts; sleep 3000'] },
      },
    ],
    [
      'resources/02-burstable',
      {
        pod: recorded.BURSTABLE,
        name: 'main',
        hash: 'fa250d96',
        resources: {
          cpuPeriod: 100_000,
          cpuQuota: 30_000,
          cpuShares: 102,
          memoryLimitInBytes: 100_663_296,
          oomScoreAdj: 999,
          hugepageLimits: [{ pageSize: '2MB' }],
          memorySwapLimitInBytes: 100_663_296,
        },
      },
    ],
    [
      'volumes/13-mount-order',
      {
        pod: recorded.MOUNT_ORDER,
        name: 'main',
        hash: 'fa250d96',
        more: {
          mounts: [
            { containerPath: '/v/child', hostPath: emptyDir('e') },
            { containerPath: '/v', hostPath: emptyDir('f') },
            { containerPath: '/w/../x/', hostPath: emptyDir('e') },
            ...LAST_MOUNTS,
          ],
        },
      },
    ],
  ])('is what the kubelet sent in its recording %s', (_case, recording) => {
    const container = recording.pod.spec.containers.find(({ name }) => name === recording.name);
    expect(container).toBeDefined();
    if (!container) return;
    const sent = containerConfig(
      recording.pod,
      container,
      made({ terminationLog: recorded.TERMINATION_LOG }),
      context(),
    );
    expect(onWire('ContainerConfig', sent)).toEqual(onWire('ContainerConfig', recordedConfig(recording)));
  });

  const config = (container: Partial<Container>, of: Pod = pod(), restartCount = 0) =>
    containerConfig(of, wanted('main', container), made({ restartCount }), context());
  const text = (bytes: string | Uint8Array | undefined): string =>
    typeof bytes === 'object' ? new TextDecoder().decode(bytes) : '';

  it('gives variables as bytes', () => {
    const making = made({
      environment: new Map([
        ['A', '1'],
        ['EMPTY', ''],
      ]),
    });
    const { envs } = containerConfig(pod(), wanted(), making, context());
    expect(envs?.map(({ key, value }) => `${key ?? ''}=${text(value)}`)).toEqual(['A=1', 'EMPTY=']);
  });

  it.each<[rule: string, container: Partial<Container>, expected: object]>([
    [
      'expands the command by the variables of the container',
      { command: ['$(A)', '<$(A)>'] },
      { command: ['1', '<1>'] },
    ],
    ['expands the arguments by the variables of the container', { args: ['$(A)', '<$(A)>'] }, { args: ['1', '<1>'] }],
    ['leaves what is escaped or unknown', { args: ['$$(A)', '$(B)'] }, { args: ['$(A)', '$(B)'] }],
    ['does not expand the working directory', { workingDir: '/$(A)' }, { workingDir: '/$(A)' }],
  ])('%s', (_rule, container, expected) => {
    const making = made({ environment: new Map([['A', '1']]) });
    expect(containerConfig(pod(), wanted('main', container), making, context())).toMatchObject(expected);
  });

  it('counts restarts in the attempt, the log path and the annotation of a container', () => {
    const { metadata, logPath, annotations } = config({}, pod(), 7);
    expect(metadata).toEqual({ name: 'main', attempt: 7 });
    expect(logPath).toBe('main/7.log');
    expect(annotations?.['io.kubernetes.container.restartCount']).toBe('7');
  });

  it('names the image as it is on the node, and as the manifest has it', () => {
    expect(config({ image: 'busybox:1.35' }).image).toEqual({ image: 'sha256:1', userSpecifiedImage: 'busybox:1.35' });
  });

  it('labels a container with its name and those of its pod, and with no label of the pod itself', () => {
    expect(config({}, pod({ metadata: { labels: { app: 'web' } } })).labels).toEqual({
      'io.kubernetes.container.name': 'main',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'default',
      'io.kubernetes.pod.uid': 'u-1',
    });
  });

  const KEPT = {
    'io.kubernetes.container.hash': containerHash('main', IMAGE),
    'io.kubernetes.container.restartCount': '0',
    'io.kubernetes.container.terminationMessagePath': '',
    'io.kubernetes.container.terminationMessagePolicy': '',
    'io.kubernetes.pod.terminationGracePeriod': '30',
  };

  it.each<[string, Partial<Container>, Pod, object]>([
    ['writes no annotation for what the manifest leaves out but the five that always stand there', {}, pod(), {}],
    [
      'writes no annotation of the pod to its containers',
      {},
      pod({ metadata: { annotations: { 'kubernetes.io/config.source': 'file', mine: '1' } } }),
      {},
    ],
    [
      'writes the path and the policy of the termination message as annotations',
      { terminationMessagePath: '/dev/log', terminationMessagePolicy: 'FallbackToLogsOnError' },
      pod(),
      {
        'io.kubernetes.container.terminationMessagePath': '/dev/log',
        'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
      },
    ],
    [
      'writes the grace of the pod as an annotation',
      {},
      pod({ spec: { terminationGracePeriodSeconds: 7 } }),
      { 'io.kubernetes.pod.terminationGracePeriod': '7' },
    ],
    [
      'writes the grace of the deletion as an annotation of its own',
      {},
      pod({ metadata: { deletionGracePeriodSeconds: 3 } }),
      { 'io.kubernetes.pod.deletionGracePeriod': '3' },
    ],
    [
      'writes the preStop hook as an annotation, as JSON',
      { lifecycle: { preStop: { exec: { command: ['sh', '-c', 'a && b'] } }, postStart: { sleep: { seconds: 1 } } } },
      pod(),
      { 'io.kubernetes.container.preStopHandler': '{"exec":{"command":["sh","-c","a \\u0026\\u0026 b"]}}' },
    ],
    ['writes no annotation for an empty list of ports', { ports: [] }, pod(), {}],
  ])('%s', (_rule, container, of, more) => {
    expect(config(container, of).annotations).toEqual({ ...KEPT, ...more });
  });

  it.each<[string, Partial<Container>, object]>([
    [
      'gives a container no input and no terminal, and the working directory of its image, where it says nothing',
      {},
      { stdin: false, stdinOnce: false, tty: false, workingDir: '' },
    ],
    [
      'gives a container the input, the terminal and the working directory that it asks for',
      { stdin: true, stdinOnce: true, tty: true, workingDir: '/srv' },
      { stdin: true, stdinOnce: true, tty: true, workingDir: '/srv' },
    ],
  ])('%s', (_rule, container, expected) => {
    expect(config(container)).toMatchObject(expected);
  });

  it('sends no stop signal, so that the one of the image counts', () => {
    expect(config({ lifecycle: { stopSignal: 'SIGINT' } })).not.toHaveProperty('stopSignal');
  });

  it.each([
    ['as root where the image does not say', {}, { runAsUser: { value: 0 } }],
    ['as the user number of the image', { uid: 1_234 }, { runAsUser: { value: 1_234 } }],
    ['as the user name of the image', { username: 'app' }, { runAsUsername: 'app' }],
  ])('runs %s', (_who, user, expected) => {
    const { linux } = containerConfig(pod(), wanted(), made({ image: { ref: 'sha256:1', ...user } }), context());
    expect(linux?.securityContext).toMatchObject(expected);
    expect('runAsUser' in (linux?.securityContext ?? {})).toBe('runAsUser' in expected);
  });

  it('writes the ports annotation in the order of the fields in Go, without what is empty', () => {
    const { annotations } = config({
      ports: [
        { protocol: 'TCP', containerPort: 80, name: 'web', hostIP: '127.0.0.1', hostPort: 0 },
        { protocol: 'UDP', containerPort: 53 },
      ],
    });
    expect(annotations?.['io.kubernetes.container.ports']).toBe(
      '[{"name":"web","containerPort":80,"protocol":"TCP","hostIP":"127.0.0.1"},{"containerPort":53,"protocol":"UDP"}]',
    );
  });
});
