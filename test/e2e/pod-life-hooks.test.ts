import { describe, expect, test } from 'vitest';
import { shell } from './harness/pod-json.ts';
import { conditionOf, note, statusOf, tellStory, untilAsked, waitFor, lives } from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

describe.concurrent('a web server with a preStop hook', () => {
  test('answers every request until it has drained', async () => {
    const pod = tellStory(node(), 'drained');
    pod.tell({
      terminationGracePeriodSeconds: 300,
      containers: [
        shell('web', `httpd -p 8080 -h /etc; ${untilAsked(note('asked to end'))}`, {
          readinessProbe: { httpGet: { path: '/passwd', port: 8080 }, periodSeconds: 1, timeoutSeconds: 10 },
          lifecycle: {
            preStop: {
              exec: { command: ['sh', '-c', `${note('draining')}; ${waitFor('drained')}; ${note('drained')}`] },
            },
          },
        }),
      ],
    });
    const { podIP = '' } = await pod.when('it is ready', (status) => conditionOf(status, 'Ready') === 'True');

    pod.remove();
    await pod.whenNoted('draining');
    for (let i = 0; i < 50; i++) {
      const { status } = await fetch(`http://${podIP}:8080/passwd`);
      expect(status).toBe(200);
    }
    expect(pod.lines()).toEqual(['draining']);

    pod.open('drained');
    await node().whenGone('drained');
    expect(pod.lines()).toEqual(['draining', 'drained', 'asked to end']);
  });

  test('whose hook asks it over http gets the request before the signal', async () => {
    const pod = tellStory(node(), 'asked');
    pod.tell({
      containers: [
        shell('web', lives('httpd -f -v -p 8080 -h /etc 2>> /node/requests & :', note('asked to end')), {
          ports: [{ name: 'web', containerPort: 8080 }],
          readinessProbe: { tcpSocket: { port: 'web' }, periodSeconds: 1, timeoutSeconds: 10 },
          lifecycle: { preStop: { httpGet: { path: '/passwd', port: 'web' } } },
        }),
      ],
    });
    await pod.when('it is ready', (status) => conditionOf(status, 'Ready') === 'True');

    pod.remove();
    await node().whenGone('asked');
    expect(pod.lines('requests').filter((line) => line.includes('response:200'))).toHaveLength(1);
    expect(pod.lines()).toEqual(['asked to end']);
  });
});

describe.concurrent('a hook by https', () => {
  test('that meets a server without TLS asks it in the clear, and tells so', async () => {
    const pod = tellStory(node(), 'clear');
    pod.tell({
      containers: [
        shell('web', lives(`httpd -p 8080 -h /etc; ${note('begins')}`, note('asked to end')), {
          readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, timeoutSeconds: 10 },
          lifecycle: { preStop: { httpGet: { scheme: 'HTTPS', path: '/passwd', port: 8080 } } },
        }),
      ],
    });
    await pod.when('it is ready', (status) => conditionOf(status, 'Ready') === 'True');
    await pod.whenNoted('begins');

    pod.remove();
    await node().whenGone('clear');
    expect(pod.lines()).toEqual(['begins', 'asked to end']);
    expect(node().log()).toMatch(
      /request to HTTPS lifecycle hook [\d.]+:8080 got HTTP response, retry with HTTP succeeded/,
    );
  });
});

describe.concurrent('a preStop hook', () => {
  test('#53: that takes longer than the grace is cut, and it is told that it did not finish', async () => {
    const pod = tellStory(node(), 'endless');
    pod.tell({
      terminationGracePeriodSeconds: 15, // of which the hook has to begin in
      containers: [
        shell('main', lives(note('begins')), {
          lifecycle: { preStop: { exec: { command: ['sh', '-c', `${note('hook begins')}; sleep 3600`] } } },
        }),
      ],
    });
    await pod.whenNoted('begins');
    await pod.when('it runs', ({ phase }) => phase === 'Running');

    const asked = performance.now();
    pod.remove();
    await pod.whenNoted('hook begins');
    await until('it to be ended', async () => (await node().running('endless')).length === 0);
    expect(performance.now() - asked).toBeGreaterThan(14_900);
    await node().whenGone('endless');
    expect(node().log()).toContain('PreStopHook failed: did not finish in 15 s');
  });

  test('that fails does not keep the pod from ending', async () => {
    const pod = tellStory(node(), 'bad-farewell');
    pod.tell({
      containers: [
        shell('main', lives(note('begins'), note('ends')), {
          lifecycle: { preStop: { exec: { command: ['sh', '-c', 'exit 9'] } } },
        }),
      ],
    });
    await pod.whenNoted('begins');
    await pod.when('it runs', ({ phase }) => phase === 'Running');

    pod.remove();
    await node().whenGone('bad-farewell');
    expect(pod.lines()).toEqual(['begins', 'ends']);
  });
});

describe.concurrent('a postStart hook', () => {
  test('that fails has its container ended and started again with back-off', async () => {
    const pod = tellStory(node(), 'bad-greeting');
    pod.tell({
      terminationGracePeriodSeconds: 2,
      containers: [
        shell('main', lives(note('begins'), note('ends')), {
          lifecycle: { postStart: { exec: { command: ['sh', '-c', `${note('hook')}; exit 9`] } } },
        }),
      ],
    });

    const status = await pod.when(
      'back-off',
      (now) => statusOf(now, 'main')?.state?.waiting?.reason === 'CrashLoopBackOff',
    );
    expect(statusOf(status, 'main')?.restartCount).toBeGreaterThanOrEqual(1);
    expect(conditionOf(status, 'Ready')).toBe('False');
    expect(pod.lines().filter((line) => line === 'hook').length).toBeGreaterThanOrEqual(2);
    expect(node().log()).toContain('PostStartHook failed: the command exited with 9');
  });

  test('is over before the next container starts', async () => {
    const pod = tellStory(node(), 'patient');
    pod.tell({
      containers: [
        shell('one', lives(note('one begins')), {
          lifecycle: { postStart: { exec: { command: ['sh', '-c', `${waitFor('gate')}; ${note('hook ends')}`] } } },
        }),
        shell('two', lives(note('two begins'))),
      ],
    });

    await pod.whenNoted('one begins');
    pod.open('gate');
    await pod.whenNoted('two begins');
    expect(pod.lines()).toEqual(['one begins', 'hook ends', 'two begins']);
  });
});

describe.concurrent('the message of a container that ended', () => {
  test('is what it wrote to its termination log', async () => {
    const pod = tellStory(node(), 'last-words');
    pod.tell({
      restartPolicy: 'Never',
      containers: [
        shell('main', 'echo chatter; printf "out of cheese" > /dev/termination-log; exit 3'),
        shell('elsewhere', 'printf "elsewhere" > /tmp/words; exit 0', { terminationMessagePath: '/tmp/words' }),
      ],
    });

    const status = await pod.when('it has failed', ({ phase }) => phase === 'Failed');
    expect(statusOf(status, 'main')?.state?.terminated).toMatchObject({ exitCode: 3, message: 'out of cheese' });
    expect(statusOf(status, 'elsewhere')?.state?.terminated).toMatchObject({ exitCode: 0, message: 'elsewhere' });
  });

  test('is the end of its log where it failed without a word and the policy says so', async () => {
    const pod = tellStory(node(), 'speechless');
    const terminationMessagePolicy = 'FallbackToLogsOnError';
    pod.tell({
      restartPolicy: 'Never',
      containers: [
        shell('failed', 'echo first; echo last; exit 4', { terminationMessagePolicy }),
        shell('content', 'echo unheard; exit 0', { terminationMessagePolicy }),
      ],
    });

    const status = await pod.when('it has failed', ({ phase }) => phase === 'Failed');
    expect(statusOf(status, 'failed')?.state?.terminated?.message).toBe('first\nlast\n');
    expect(statusOf(status, 'content')?.state?.terminated?.message).toBeUndefined();
  });
});
