import { describe, expect, test } from 'vitest';
import { shell } from './harness/pod-json.ts';
import { note, statusOf, tellStory, untilAsked, waitFor, lives } from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

describe.concurrent('init containers', () => {
  test('run one after another, and the main container when the last has succeeded', async () => {
    const pod = tellStory(node(), 'in-order');
    pod.tell({
      initContainers: [
        shell('first', `${note('first begins')}; sleep 1; ${note('first ends')}`),
        shell('second', `${note('second begins')}; ${waitFor('gate')}; ${note('second ends')}`),
      ],
      containers: [shell('main', lives(note('main begins')))],
    });

    await pod.whenNoted('second begins');
    const before = await pod.when('second runs', (status) => statusOf(status, 'second')?.state?.running !== undefined);
    expect(before.phase).toBe('Pending');
    expect(statusOf(before, 'first')?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(statusOf(before, 'main')?.state?.waiting?.reason).toBe('PodInitializing');

    pod.open('gate');
    await pod.when('it runs', ({ phase }) => phase === 'Running');
    await pod.whenNoted('main begins');
    expect(pod.lines()).toEqual(['first begins', 'first ends', 'second begins', 'second ends', 'main begins']);
  });

  test('that fail are run again with back-off until they succeed', async () => {
    const pod = tellStory(node(), 'third-time-lucky');
    pod.tell({
      initContainers: [
        shell(
          'lucky',
          `echo "$(date +%s)" >> /node/begins; [ $(wc -l < /node/begins) -ge 3 -a -e /node/gate ] || exit 5`,
        ),
      ],
      containers: [shell('main', lives(note('main begins')))],
    });

    const waiting = await pod.when(
      'back-off',
      (status) => statusOf(status, 'lucky')?.state?.waiting?.reason === 'CrashLoopBackOff',
    );
    expect(waiting.phase).toBe('Pending');
    expect(statusOf(waiting, 'lucky')).toMatchObject({ lastState: { terminated: { exitCode: 5 } } });
    expect(statusOf(waiting, 'lucky')?.restartCount).toBeGreaterThanOrEqual(1);
    pod.open('gate');
    await pod.whenNoted('main begins');
    const after = await pod.when('it runs', ({ phase }) => phase === 'Running');
    expect(statusOf(after, 'lucky')).toMatchObject({ state: { terminated: { exitCode: 0 } } });
    expect(statusOf(after, 'lucky')?.restartCount).toBe(pod.lines('begins').length - 1);
    const [, second = 0, third = 0] = pod.lines('begins').map(Number);
    expect(third - second).toBeGreaterThanOrEqual(9); // whole seconds are noted, so ten may look like nine
  });

  test('that fail end a pod that never restarts, and its main container never runs', async () => {
    const pod = tellStory(node(), 'unlucky');
    pod.tell({
      restartPolicy: 'Never',
      initContainers: [shell('unlucky', `${note('tried')}; exit 6`)],
      containers: [shell('main', note('main begins'))],
    });

    const status = await pod.when('it has failed', ({ phase }) => phase === 'Failed');
    expect(statusOf(status, 'unlucky')?.state?.terminated).toMatchObject({ exitCode: 6, reason: 'Error' });
    expect(pod.lines()).toEqual(['tried']);
  });
});

describe.concurrent('sidecars', () => {
  test('start before the main container once their startup probe passes, and end after it in reverse order', async () => {
    const pod = tellStory(node(), 'escorted');
    pod.tell({
      terminationGracePeriodSeconds: 300,
      initContainers: [
        shell('a', lives(note('a begins'), `sleep 1; ${note('a ends')}`), {
          restartPolicy: 'Always',
          startupProbe: { exec: { command: ['test', '-e', '/node/a-is-up'] }, periodSeconds: 1, failureThreshold: 600 },
        }),
        shell('b', lives(note('b begins'), `sleep 1; ${note('b ends')}`), { restartPolicy: 'Always' }),
      ],
      containers: [shell('main', lives(note('main begins'), `sleep 1; ${note('main ends')}`))],
    });

    const gated = await pod.when('a runs', (status) => statusOf(status, 'a')?.state?.running !== undefined);
    expect(gated.phase).toBe('Pending');
    expect(statusOf(gated, 'a')?.started).toBe(false);
    await pod.whenNoted('a begins');
    expect(pod.lines()).toEqual(['a begins']);

    pod.open('a-is-up');
    await pod.whenNoted('main begins');
    await pod.whenNoted('b begins');
    const up = await pod.when('it runs', ({ phase }) => phase === 'Running');
    expect(statusOf(up, 'a')).toMatchObject({ started: true, restartCount: 0 });
    const { b = Infinity, main } = Object.fromEntries(
      (await node().runtime.containers())
        .filter((one) => one.pod === 'escorted')
        .map(({ name, createdAt }) => [name, createdAt]),
    );
    expect(b).toBeLessThan(main ?? 0);

    pod.remove();
    await node().whenGone('escorted');
    expect(pod.lines().slice(3)).toEqual(['main ends', 'b ends', 'a ends']);
  });

  test('that end are started again though their pod never restarts, and do not keep it from succeeding', async () => {
    const pod = tellStory(node(), 'job');
    pod.tell({
      restartPolicy: 'Never',
      initContainers: [
        shell(
          'helper',
          lives(`${note('helper begins')}; [ -e /node/again ] || { : > /node/again; exit 1; }`, note('helper ends')),
          { restartPolicy: 'Always' },
        ),
      ],
      containers: [shell('main', `${waitFor('gate')}; ${note('main ends')}`)],
    });

    await pod.whenNoted('helper begins', 2);
    const busy = await pod.when('the helper runs again', (status) => statusOf(status, 'helper')?.restartCount === 1);
    expect(busy.phase).not.toBe('Succeeded');
    pod.open('gate');
    const done = await pod.when('it has succeeded', ({ phase }) => phase === 'Succeeded');
    expect(statusOf(done, 'main')?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    await until('the helper to be ended', async () => (await node().running('job')).length === 0);
    expect(pod.lines()).toEqual(['helper begins', 'helper begins', 'main ends', 'helper ends']);
  });

  test('serve the init containers that come after them', async () => {
    const pod = tellStory(node(), 'served');
    pod.tell({
      initContainers: [
        shell('server', 'exec httpd -f -p 8080 -h /etc', {
          restartPolicy: 'Always',
          startupProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 600 },
        }),
        shell('client', `wget -q -O /dev/null http://127.0.0.1:8080/passwd && ${note('fetched')}`),
      ],
      containers: [shell('main', untilAsked())],
    });

    const status = await pod.when('it runs', ({ phase }) => phase === 'Running');
    expect(statusOf(status, 'client')).toMatchObject({ restartCount: 0 });
    expect(pod.lines()).toEqual(['fetched']);
  });
});
