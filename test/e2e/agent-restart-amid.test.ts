import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Container, PodStatus } from '../../src/model/pod.ts';
import { shell } from './harness/pod-json.ts';
import {
  conditionOf,
  lives,
  note,
  statusOf,
  tellStory,
  untilAsked,
  waitFor,
  whenNotes,
  type Story,
} from './harness/story.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

/** Serves a page that takes until the test opens the gate, beside one that is there at once. */
const SLOW_SERVER = `mkdir -p /www/cgi-bin; echo ok > /www/health; printf '%s\\n' '#!/bin/sh' '${note('asked')}' '${waitFor('gate')}' 'printf "content-type: text/plain\\r\\n\\r\\nall of it"' > /www/cgi-bin/slow; chmod +x /www/cgi-bin/slow; httpd -p 8080 -h /www; ${untilAsked(note('ends'))}`;

/** Each pod is in the midst of something when the agent goes; it comes back, and all of them come to their right end. */
describe.each(['SIGTERM', 'SIGKILL'] as const)('an agent that gets %s and comes back', (signal) => {
  test('resizes, drains, completes and restarts pods as if it had never been away', async () => {
    const node = await testNode();
    await node.start();
    const uid = `sized-${signal.toLowerCase()}`;
    const [sized, web, job, hungry] = ['sized', 'web', 'job', 'hungry'].map((name) => tellStory(node, name)) as [
      Story,
      Story,
      Story,
      Story,
    ];
    sized.tell(sizedPod(uid, '200m', '64Mi'));
    web.tell({
      terminationGracePeriodSeconds: 300,
      containers: [
        shell('main', SLOW_SERVER, {
          readinessProbe: { httpGet: { path: '/health', port: 8080 }, periodSeconds: 1, timeoutSeconds: 10 },
          lifecycle: { preStop: { exec: { command: ['sh', '-c', `${note('drains')}; ${waitFor('drained')}`] } } },
        }),
      ],
    });
    job.tell({
      restartPolicy: 'Never',
      initContainers: [shell('helper', lives(note('helper begins'), note('helper ends')), { restartPolicy: 'Always' })],
      containers: [
        shell(
          'main',
          `${whenNotes('helper begins')}; ${note('main begins')}; ${waitFor('gate')}; ${note('main ends')}`,
        ),
      ],
    });
    hungry.tell({
      containers: [
        shell(
          'main',
          `${note('begins')}; [ $(wc -l < /node/notes) -gt 1 ] && { ${untilAsked()}; }; ${waitFor('gate')}; exec tail /dev/zero`,
          {
            resources: { limits: { memory: '20Mi' } },
          },
        ),
      ],
    });
    const [{ podIP = '' }, before] = await Promise.all([
      web.when('it is ready', (now) => conditionOf(now, 'Ready') === 'True'),
      node.whenRunning('sized'),
      job.whenNoted('main begins'),
      hungry.whenNoted('begins'),
    ]);
    await sizesOf(node, before.id, { quota: 20_000, memory: 64 });
    const page = fetch(`http://${podIP}:8080/cgi-bin/slow`).then(async (answer) => [
      answer.status,
      await answer.text(),
    ]);
    await web.whenNoted('asked');
    web.remove();
    await web.whenNoted('drains');
    sized.tell(sizedPod(uid, '300m', '80Mi'));
    await sizesOf(node, before.id, { quota: 30_000, memory: 80 });

    await node.signal(signal);
    sized.tell(sizedPod(uid, '150m', '72Mi'));
    hungry.open('gate');
    await node.start();

    await sizesOf(node, before.id, { quota: 15_000, memory: 72 });
    const resized = await sized.when('the new size to be told', (now) => sizeTold(now) === '150m 72Mi');
    expect(statusOf(resized, 'main')).toMatchObject({
      restartCount: 0,
      allocatedResources: { cpu: '150m', memory: '72Mi' },
    });
    expect(await node.whenRunning('sized')).toEqual(before);

    // The hook runs again where its agent is gone, so that no server ends before it has drained.
    web.open('gate');
    expect(await page).toEqual([200, 'all of it']);
    expect(web.lines()).not.toContain('ends');
    web.open('drained');
    await node.whenGone('web');
    expect(web.lines().filter((line) => line === 'ends')).toHaveLength(1);

    job.open('gate');
    const done = await job.when('it has succeeded', ({ phase }) => phase === 'Succeeded');
    expect(statusOf(done, 'main')?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    await until('the helper to be ended', async () => (await node.running('job')).length === 0);
    expect(job.lines()).toEqual(['helper begins', 'main begins', 'main ends', 'helper ends']);

    await hungry.whenNoted('begins', 2);
    const fed = await hungry.when(
      'it to run again',
      (now) => statusOf(now, 'main')?.state?.running !== undefined && statusOf(now, 'main')?.restartCount === 1,
    );
    expect(statusOf(fed, 'main')?.lastState?.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
    expect(hungry.lines()).toEqual(['begins', 'begins']);
  });

  test('keeps the restart count and the back-off of a crash loop, and goes on with probes where it left them', async () => {
    const node = await testNode();
    await node.start();
    const [crashing, starting] = ['crashing', 'starting'].map((name) => tellStory(node, name)) as [Story, Story];
    crashing.tell({
      containers: [
        shell('main', `date +%s >> /node/begins; [ $(wc -l < /node/begins) -ge 2 ] || ${waitFor('crash')}; exit 1`),
      ],
    });
    const probe = (question: string): NonNullable<Container['livenessProbe']> => ({
      exec: { command: ['sh', '-c', question] },
      periodSeconds: 1,
      timeoutSeconds: 10,
    });
    starting.tell({
      terminationGracePeriodSeconds: 1,
      containers: [
        shell('main', lives(note('begins')), {
          startupProbe: { ...probe(`${note('asked')}; [ -e /node/up ]`), failureThreshold: 1_000 },
          livenessProbe: {
            ...probe('[ ! -e /node/ill ] || [ $(grep -c begins /node/notes) -gt 1 ]'),
            failureThreshold: 1,
          },
          readinessProbe: probe('true'),
        }),
      ],
    });
    await Promise.all([
      starting.whenNoted('asked', 2),
      until('the first start', () => crashing.lines('begins').length),
    ]);
    crashing.open('crash');
    const waiting = await crashing.when(
      'back-off',
      (now) => statusOf(now, 'main')?.restartCount === 1 && reasonOf(now) === 'CrashLoopBackOff',
    );

    await node.signal(signal);
    await node.start();

    // Until the runtime is asked, the status is what the agent before wrote last, some moments before it went.
    await crashing.when('its restart to be known', (now) => (statusOf(now, 'main')?.restartCount ?? 0) >= 1);
    // Side by side: the waits of the crash loop do not wait for the other pod.
    await Promise.all([goesOnWithProbes(starting), keepsItsBackOff(crashing, waiting)]);
  });
});

async function goesOnWithProbes(pod: Story): Promise<void> {
  const asked = pod.lines().filter((line) => line === 'asked').length;
  await pod.whenNoted('asked', asked + 1);
  const unready = await pod.when('it is served', () => true);
  expect(statusOf(unready, 'main')).toMatchObject({ started: false, ready: false, restartCount: 0 });
  pod.open('up');
  const ready = await pod.when('it is ready', (now) => conditionOf(now, 'Ready') === 'True');
  expect(statusOf(ready, 'main')?.restartCount).toBe(0);
  pod.open('ill');
  await pod.whenNoted('begins', 2);
  await pod.when('one restart', (now) => statusOf(now, 'main')?.restartCount === 1);
}

/** @param waiting its status when it waited for its second restart */
async function keepsItsBackOff(pod: Story, waiting: PodStatus): Promise<void> {
  await pod.when(
    'a longer wait',
    (now) =>
      statusOf(now, 'main')?.restartCount === 2 &&
      statusOf(now, 'main')?.state?.waiting?.message?.startsWith('back-off 20s') === true,
  );
  const ended = statusOf(waiting, 'main')?.lastState?.terminated?.finishedAt ?? '';
  // Both are whole seconds.
  expect(Number(pod.lines('begins').at(2)) - Date.parse(ended) / 1_000).toBeGreaterThanOrEqual(9);
}

function reasonOf(status: PodStatus): string | undefined {
  return statusOf(status, 'main')?.state?.waiting?.reason;
}

function sizedPod(uid: string, cpu: string, memory: string): Parameters<Story['tell']>[0] {
  const amounts = { cpu, memory };
  const resources: Container['resources'] = { limits: amounts, requests: amounts };
  return { uid, containers: [shell('main', untilAsked(), { resources })] };
}

function sizeTold(status: PodStatus): string {
  const { cpu = '', memory = '' } = statusOf(status, 'main')?.resources?.limits ?? {};
  return `${cpu} ${memory}`;
}

/** Resolves once the cgroup of a container has such limits: microseconds of each tenth of a second, and MiB. */
async function sizesOf(
  { runtime }: TestNode,
  id: string,
  { quota, memory }: { readonly quota: number; readonly memory: number },
): Promise<void> {
  const { pid } = await runtime.times(id);
  await until(`the container to have ${quota} µs and ${memory} MiB`, () => {
    const cgroups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
    const read = (controller: string, v1: string, v2: string): number => {
      const isV2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
      const [, , path = ''] =
        cgroups.find(([, names = '']) => (isV2 ? names === '' : names.split(',').includes(controller))) ?? [];
      return Number.parseInt(
        readFileSync(isV2 ? join('/sys/fs/cgroup', path, v2) : join('/sys/fs/cgroup', controller, path, v1), 'utf8'),
        10,
      );
    };
    return (
      read('cpu', 'cpu.cfs_quota_us', 'cpu.max') === quota &&
      read('memory', 'memory.limit_in_bytes', 'memory.max') === memory * 2 ** 20
    );
  });
}
