import { describe, expect, it } from 'vitest';
import { renderPod } from '../../../../src/cli/commands/render-pod.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { PodEvent } from '../../../../src/streams/events/event-log.ts';
import type { PodView } from '../../../../src/streams/view/node-view.ts';
import { containerStatus, podView } from './views.ts';

const PAPER: Terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
const NOON = Date.UTC(2026, 0, 31, 12);

function secondsBefore(seconds: number): string {
  return new Date(NOON - seconds * 1_000).toISOString();
}

function event(reason: string, message: string, rest: Partial<PodEvent> = {}): PodEvent {
  return {
    of: { uid: 'uid-web' as PodUid, name: 'web', namespace: 'default' },
    type: 'Normal',
    reason,
    message,
    count: 1,
    firstAt: NOON - 60_000,
    lastAt: NOON - 60_000,
    ...rest,
  };
}

function textOf(view: PodView, rest: Partial<Parameters<typeof renderPod>[0]> = {}): string {
  return `\n${renderPod({ view, events: [], problems: [], ...rest }, NOON, PAPER).join('\n')}\n`;
}

const WEB: PodView = podView('default/web-n1', ['httpd'], {
  spec: {
    nodeName: 'n1',
    priority: 0,
    initContainers: [{ name: 'fetch', image: 'busybox:1.35', args: ['sh', '-c', 'echo one\necho two'] }],
    containers: [
      {
        name: 'httpd',
        image: 'busybox:1.35',
        command: ['httpd', '-f'],
        ports: [
          { containerPort: 8080, hostPort: 80 },
          { containerPort: 53, protocol: 'UDP', name: 'dns' },
        ],
        resources: { limits: { cpu: '500m', memory: '64Mi' } },
        livenessProbe: { httpGet: { path: '/ok', port: 8080 }, periodSeconds: 5 },
        env: [
          { name: 'MODE', value: 'fast' },
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
          { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        ],
        volumeMounts: [{ name: 'www', mountPath: '/www', readOnly: true }],
      },
    ],
    volumes: [
      { name: 'www', hostPath: { path: '/srv/www', type: 'Directory' } },
      { name: 'tmp', emptyDir: {} },
    ],
  },
  status: {
    phase: 'Running',
    startTime: secondsBefore(90),
    podIP: '10.88.0.7',
    podIPs: [{ ip: '10.88.0.7' }],
    qosClass: 'Burstable',
    conditions: [
      { type: 'Initialized', status: 'True' },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady' },
    ],
    initContainerStatuses: [
      containerStatus(
        'fetch',
        {
          terminated: {
            exitCode: 0,
            reason: 'Completed',
            startedAt: secondsBefore(89),
            finishedAt: secondsBefore(88),
          },
        },
        { ready: true },
      ),
    ],
    containerStatuses: [
      containerStatus(
        'httpd',
        {
          waiting: {
            reason: 'CrashLoopBackOff',
            message: 'back-off 40s restarting failed container=httpd pod=web-n1_default(uid-web-n1)',
          },
        },
        {
          containerID: 'containerd://abc',
          restartCount: 3,
          lastState: {
            terminated: {
              exitCode: 137,
              reason: 'OOMKilled',
              startedAt: secondsBefore(40),
              finishedAt: secondsBefore(12),
            },
          },
        },
      ),
    ],
  },
});

describe('renderPod', () => {
  it('shows states, what was before, when it starts next, conditions, volumes, events and problems', () => {
    expect(
      textOf(WEB, {
        problems: [
          {
            source: 'file',
            origin: '/etc/rxlet/manifests/web.yaml',
            position: { line: 8, column: 7 },
            field: 'spec.containers[0].imge',
            message: 'unknown field, did you mean image?',
          },
        ],
        events: [
          event('Pulled', 'Container image "busybox:1.35" already present on machine'),
          event('BackOff', 'Back-off restarting failed container httpd in pod web-n1_default(uid-web-n1)', {
            type: 'Warning',
            count: 4,
            lastAt: NOON - 3_000,
            fieldPath: 'spec.containers{httpd}',
          }),
        ],
      }),
    ).toMatchInlineSnapshot(`
      "
      /etc/rxlet/manifests/web.yaml:8:7: spec.containers[0].imge: unknown field, did
        you mean image?

      Name:         web-n1
      Namespace:    default
      UID:          uid-web-n1
      Node:         n1
      Source:
      Start Time:   2026-01-31 11:58:30 UTC (90s ago)
      Labels:       <none>
      Annotations:  <none>
      Status:       Running
      IP:           10.88.0.7
      QoS Class:    Burstable
      Priority:     0
      Init Containers:
        fetch:
          Image:          busybox:1.35
          Ports:          <none>
          Args:           sh
                          -c
                          "echo one\\necho two"
          State:          Terminated
            Reason:       Completed
            Exit Code:    0
            Started:      2026-01-31 11:58:31 UTC
            Finished:     2026-01-31 11:58:32 UTC
          Ready:          True
          Restart Count:  0
          Mounts:         <none>
      Containers:
        httpd:
          Container ID:   containerd://abc
          Image:          busybox:1.35
          Ports:          8080/TCP (host 80), dns 53/UDP
          Command:        httpd
                          -f
          State:          Waiting
            Reason:       CrashLoopBackOff
            Message:      back-off 40s restarting failed container=httpd
                          pod=web-n1_default(uid-web-n1)
            Next Start:   in 28s
          Last State:     Terminated
            Reason:       OOMKilled
            Exit Code:    137
            Started:      2026-01-31 11:59:20 UTC
            Finished:     2026-01-31 11:59:48 UTC
          Ready:          False
          Restart Count:  3
          Limits:         cpu 500m, memory 64Mi
          Liveness:       http-get http://:8080/ok
                          delay=0s timeout=1s period=5s #success=1 #failure=3
          Environment:
            MODE:      fast
            PASSWORD:  <the key password of the Secret db>
            IP:        <the field status.podIP>
          Mounts:         /www from www (ro)
      Conditions:
        Type         Status
        Initialized  True
        Ready        False (ContainersNotReady)
      Volumes:
        www:  hostPath path=/srv/www type=Directory
        tmp:  emptyDir
      Events:
        AGE               TYPE     REASON   MESSAGE
        60s               Normal   Pulled
          Container image "busybox:1.35" already present on machine
        3s (x4 over 60s)  Warning  BackOff
          Back-off restarting failed container httpd in pod web-n1_default(uid-web-n1)
      "
    `);
  });

  it('shows a pod of which nothing is known yet', () => {
    expect(textOf(podView('data/db', ['db'], { note: 'waits for the runtime' }))).toMatchInlineSnapshot(`
      "
      Name:         db
      Namespace:    data
      UID:          uid-db
      Node:
      Source:
      Start Time:   -
      Labels:       <none>
      Annotations:  <none>
      Status:       Pending
      Note:         waits for the runtime
      IP:           -
      QoS Class:    -
      Containers:
        db:
          Image:          test/db:1
          Ports:          <none>
          State:          Waiting
          Ready:          False
          Restart Count:  0
          Mounts:         <none>
      Conditions:
        <none>
      Volumes:  <none>
      Events:
        <none>
      "
    `);
  });

  it('says that a container starts now once its back-off is over', () => {
    const [status] = WEB.status.containerStatuses ?? [];
    const over = { ...status?.lastState?.terminated, exitCode: 1, finishedAt: secondsBefore(41) };
    const view = {
      ...WEB,
      status: {
        ...WEB.status,
        containerStatuses: status ? [{ ...status, lastState: { terminated: over } }] : [],
      },
    };
    expect(textOf(view)).toContain('Next Start:   now');
  });

  it('shows where a value comes from, not the value, where a Secret holds it', () => {
    expect(textOf(WEB)).toContain('PASSWORD:  <the key password of the Secret db>');
  });
});
