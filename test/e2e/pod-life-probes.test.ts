import { describe, expect, test } from 'vitest';
import type { Container, PodStatus } from '../../src/model/pod.ts';
import { grpcServer, httpsServer } from '../edges/runtime/probes/servers.ts';
import { shell } from './harness/pod-json.ts';
import { conditionOf, note, statusOf, tellStory, untilAsked, waitFor, lives } from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';

type Probe = NonNullable<Container['livenessProbe']>;

const node = sharedNode();

/** Serves until the test says that it is to be sick; deaf to SIGTERM, so that only the grace of the probe ends it soon. */
const PATIENT = `${note('begins')}; mkdir /www; echo ok > /www/health; httpd -p 8080 -h /www; if [ ! -e /node/sick ]; then ${waitFor('sick')}; rm /www/health; killall httpd; fi; while :; do sleep 1; done`;

const SICK: readonly (readonly [string, Probe])[] = [
  ['exec', { exec: { command: ['test', '-e', '/www/health'] } }],
  ['http', { httpGet: { path: '/health', port: 'web' } }],
  ['tcp', { tcpSocket: { port: 'web' } }],
];

describe.concurrent('a liveness probe', () => {
  test.for(SICK)(
    'over %s that fails has its container restarted within the grace of the probe',
    async ([kind, how]) => {
      const pod = tellStory(node(), `patient-${kind}`);
      pod.tell({
        terminationGracePeriodSeconds: 3_600,
        containers: [
          shell('main', PATIENT, {
            ports: [{ name: 'web', containerPort: 8080 }],
            startupProbe: { ...how, periodSeconds: 1, failureThreshold: 600 },
            livenessProbe: {
              ...how,
              periodSeconds: 1,
              failureThreshold: 2,
              terminationGracePeriodSeconds: 1,
              timeoutSeconds: 10,
            },
          }),
        ],
      });
      await pod.when('it is started', (status) => statusOf(status, 'main')?.started === true);

      pod.open('sick');
      await pod.whenNoted('begins', 2);
      const status = await pod.when(
        'one restart',
        (now) => statusOf(now, 'main')?.state?.running !== undefined && statusOf(now, 'main')?.restartCount === 1,
      );
      expect(statusOf(status, 'main')?.lastState?.terminated).toMatchObject({ exitCode: 137 });
      // No pod ends for ever with an hour of grace when the test is over.
      pod.tell({ terminationGracePeriodSeconds: 1, containers: [shell('main', untilAsked())] });
    },
  );

  test('waits for the startup probe', async () => {
    const pod = tellStory(node(), 'late-riser');
    pod.tell({
      containers: [
        shell('main', untilAsked(), {
          startupProbe: {
            exec: { command: ['sh', '-c', `${note('asked startup')}; [ -e /node/up ]`] },
            periodSeconds: 1,
            failureThreshold: 600,
            timeoutSeconds: 10,
          },
          livenessProbe: {
            exec: { command: ['sh', '-c', note('asked liveness')] },
            periodSeconds: 1,
            timeoutSeconds: 10,
          },
        }),
      ],
    });

    await pod.whenNoted('asked startup', 4);
    expect(pod.lines()).not.toContain('asked liveness');
    expect(statusOf(await pod.when('it is there', () => true), 'main')?.started).toBe(false);

    pod.open('up');
    await pod.whenNoted('asked liveness', 2);
    const calls = pod.lines();
    expect(calls.slice(calls.indexOf('asked liveness'))).not.toContain('asked startup');
    const status = await pod.when('it is started', (now) => statusOf(now, 'main')?.started === true);
    expect(statusOf(status, 'main')?.restartCount).toBe(0);
  });
});

describe.concurrent('a startup probe', () => {
  test('that fails too often has its container restarted', async () => {
    const pod = tellStory(node(), 'never-up');
    pod.tell({
      terminationGracePeriodSeconds: 1,
      containers: [
        shell('main', lives(note('begins')), {
          startupProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 10 },
        }),
      ],
    });

    await pod.whenNoted('begins', 2);
    const status = await pod.when('one restart', (now) => (statusOf(now, 'main')?.restartCount ?? 0) >= 1);
    expect(conditionOf(status, 'Ready')).toBe('False');
  });
});

describe.concurrent('a readiness probe', () => {
  test('turns the pod ready and unready without a restart', async () => {
    const pod = tellStory(node(), 'moody');
    pod.tell({
      containers: [
        shell(
          'main',
          `until [ -e /node/well ]; do sleep 0.1; done; : > /tmp/well; ${waitFor('unwell')}; rm /tmp/well; ${waitFor('well-again')}; : > /tmp/well; ${untilAsked()}`,
          {
            readinessProbe: {
              exec: { command: ['test', '-e', '/tmp/well'] },
              periodSeconds: 1,
              failureThreshold: 1,
              timeoutSeconds: 10,
            },
          },
        ),
      ],
    });

    const first = await pod.when('it runs', ({ phase }) => phase === 'Running');
    expect(conditionOf(first, 'Ready')).toBe('False');
    pod.open('well');
    await pod.when('it is ready', (status) => conditionOf(status, 'Ready') === 'True');
    pod.open('unwell');
    const unready = await pod.when('it is not ready', (status) => conditionOf(status, 'Ready') === 'False');
    expect(unready.conditions?.find(({ type }) => type === 'ContainersReady')).toMatchObject({
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    });
    pod.open('well-again');
    const last = await pod.when('it is ready again', (status) => conditionOf(status, 'Ready') === 'True');
    expect(statusOf(last, 'main')).toMatchObject({ restartCount: 0, ready: true });
  });

  test("reaches a pod on the host's network", async () => {
    const pod = tellStory(node(), 'homely');
    pod.tell({
      hostNetwork: true,
      containers: [
        shell('main', 'exec httpd -f -p 18080 -h /etc', {
          readinessProbe: { httpGet: { path: '/passwd', port: 18080 }, periodSeconds: 1, timeoutSeconds: 10 },
          livenessProbe: { tcpSocket: { port: 18080 }, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 30 },
        }),
      ],
    });

    const status = await pod.when('it is ready', (now) => conditionOf(now, 'Ready') === 'True');
    expect(statusOf(status, 'main')?.restartCount).toBe(0);
  });

  test('by https or grpc goes to the container itself, and turns with its answer', async ({ onTestFinished }) => {
    let health = 'SERVING';
    const secure = await httpsServer((_request, response) => {
      response.writeHead(health === 'SERVING' ? 200 : 503).end();
    });
    const remote = await grpcServer({
      Check: (_: unknown, reply: (error: null, answer: object) => void) => {
        reply(null, { status: health });
      },
    });
    onTestFinished(() => {
      secure.stop();
      remote.stop();
    });
    // The servers are in this process, which shares the node's network with the pod: busybox speaks neither.
    const often = { periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 1 };
    const pod = tellStory(node(), 'modern');
    pod.tell({
      hostNetwork: true,
      containers: [
        shell('secure', untilAsked(), {
          readinessProbe: { httpGet: { scheme: 'HTTPS', path: '/', port: secure.port }, ...often },
        }),
        shell('remote', untilAsked(), { readinessProbe: { grpc: { port: remote.port }, ...often } }),
      ],
    });

    const ready = (now: PodStatus): readonly unknown[] =>
      ['secure', 'remote'].map((name) => statusOf(now, name)?.ready);
    await pod.when('both are ready', (now) => ready(now).every((one) => one === true));
    health = 'NOT_SERVING';
    await pod.when('neither is ready', (now) => ready(now).every((one) => one === false));
    health = 'SERVING';
    const status = await pod.when('both are ready again', (now) => ready(now).every((one) => one === true));
    expect(status.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 0]);
  });

  test('follows a redirect on the same host', async () => {
    const pod = tellStory(node(), 'moved');
    pod.tell({
      containers: [
        // Busybox sends those who ask for a folder to the same path with a slash.
        shell(
          'main',
          'mkdir -p /www/here; echo ok > /www/here/index.html; exec httpd -f -vv -p 8080 -h /www 2>> /node/requests',
          {
            readinessProbe: { httpGet: { path: '/here', port: 8080 }, periodSeconds: 1, timeoutSeconds: 10 },
          },
        ),
      ],
    });

    await pod.when('it is ready', (now) => conditionOf(now, 'Ready') === 'True');
    expect(pod.lines('requests').filter((line) => line.includes('response:30'))).not.toEqual([]);
    expect(pod.lines('requests').filter((line) => line.includes('response:200'))).not.toEqual([]);
  });

  test('says no when the server does, and the pod stays unready', async () => {
    const pod = tellStory(node(), 'empty-handed');
    pod.tell({
      containers: [
        shell('main', 'exec httpd -f -v -p 8080 -h /tmp', {
          readinessProbe: {
            httpGet: { path: '/nothing', port: 8080, httpHeaders: [{ name: 'X-Asked-By', value: 'test' }] },
            periodSeconds: 1,
            timeoutSeconds: 10,
          },
        }),
      ],
    });

    await pod.when('it runs', ({ phase }) => phase === 'Running');
    const { log } = node();
    await pod.when('a refusal to be told', () =>
      log().includes('Readiness probe failed: HTTP probe failed with statuscode: 404'),
    );
    const status = await pod.when('it is there', () => true);
    expect(conditionOf(status, 'Ready')).toBe('False');
    expect(statusOf(status, 'main')?.restartCount).toBe(0);
  });
});
