import { describe, expect, test } from 'vitest';
import { BUSYBOX, shell } from './harness/pod-json.ts';
import { conditionOf, note, statusOf, tellStory, untilAsked, waitFor, lives } from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

/** Another image that every node of the tests has, with a shell in it. */
const OTHER_IMAGE = 'rxlet.test/pause:1';
const MISSING_IMAGE = 'registry.invalid/nobody/has-this:1';

describe.concurrent('a crash loop', () => {
  test('waits longer after each crash and says so; an edit has it start at once', async () => {
    const pod = tellStory(node(), 'crashing');
    const crash = { containers: [shell('main', 'date +%s >> /node/begins; exit 8')] };
    pod.tell(crash);

    const first = await pod.when(
      'the first wait',
      (now) => statusOf(now, 'main')?.state?.waiting?.reason === 'CrashLoopBackOff',
    );
    expect(first.phase).toBe('Running');
    expect(statusOf(first, 'main')).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 8, reason: 'Error' } },
    });
    expect(statusOf(first, 'main')?.state?.waiting?.message).toMatch(
      /^back-off 10s restarting failed container=main pod=crashing-node_default\(/,
    );
    const second = await pod.when(
      'the second wait',
      (now) => statusOf(now, 'main')?.state?.waiting?.message?.startsWith('back-off 20s') === true,
    );
    expect(statusOf(second, 'main')?.restartCount).toBe(2);
    // That it waited for the first time after the second crash tells that nothing was waited for after the first.
    const [, two = 0, three = 0] = pod.lines('begins').map(Number);
    expect(three - two).toBeGreaterThanOrEqual(9); // whole seconds are noted, so ten may look like nine

    // The edited pod starts though twenty seconds are not over: it would be the fourth crash else.
    pod.tell({ containers: [shell('main', lives(note('mended')))] });
    await pod.whenNoted('mended');
    expect(pod.lines('begins')).toHaveLength(3);
    const mended = await pod.when('it runs', (now) => statusOf(now, 'main')?.state?.running !== undefined);
    expect(statusOf(mended, 'main')?.restartCount).toBe(0);
  });

  test('of a container that is too hungry tells OOMKilled', async () => {
    const pod = tellStory(node(), 'hungry');
    pod.tell({
      containers: [
        shell('main', `${note('begins')}; exec tail /dev/zero`, { resources: { limits: { memory: '20Mi' } } }),
      ],
    });

    await pod.whenNoted('begins', 2);
    const status = await pod.when(
      'a restart',
      (now) =>
        (statusOf(now, 'main')?.restartCount ?? 0) >= 1 &&
        statusOf(now, 'main')?.lastState?.terminated?.reason === 'OOMKilled',
    );
    expect(statusOf(status, 'main')?.lastState?.terminated).toMatchObject({ exitCode: 137 });
  });
});

describe.concurrent('restart rules', () => {
  test('of a container come before its own policy, and that before the policy of the pod', async () => {
    const pod = tellStory(node(), 'ruled');
    pod.tell({
      restartPolicy: 'Never',
      containers: [
        shell('by-rule', `${note('by-rule')}; [ -e /node/seen ] && exit 0; : > /node/seen; exit 42`, {
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        }),
        shell('by-policy', `${note('by-policy')}; [ -e /node/seen-too ] && exit 0; : > /node/seen-too; exit 1`, {
          restartPolicy: 'OnFailure',
        }),
        shell('by-pod', `${note('by-pod')}; exit 0`),
      ],
    });

    const status = await pod.when('it has succeeded', ({ phase }) => phase === 'Succeeded');
    expect(status.containerStatuses?.map(({ name, restartCount }) => [name, restartCount])).toEqual([
      ['by-pod', 0],
      ['by-policy', 1],
      ['by-rule', 1],
    ]);
    expect([...pod.lines()].sort()).toEqual(['by-pod', 'by-policy', 'by-policy', 'by-rule', 'by-rule']);
  });

  test('can have all containers begin anew, init containers first, in the same sandbox', async () => {
    const pod = tellStory(node(), 'all-or-nothing');
    pod.tell({
      restartPolicy: 'Never',
      initContainers: [shell('init', note('init'))],
      containers: [
        shell('bystander', lives(note('bystander'))),
        shell(
          'trigger',
          `${note('trigger')}; [ -e /node/seen ] && { ${untilAsked()}; }; : > /node/seen; ${waitFor('gate')}; exit 88`,
          {
            restartPolicy: 'Never',
            restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [88] } }],
          },
        ),
      ],
    });
    await pod.whenNoted('trigger');
    await pod.whenNoted('bystander');
    const sandboxes = async (): Promise<readonly string[]> =>
      (await node().runtime.sandboxes()).filter((one) => one.pod === 'all-or-nothing').map(({ id }) => id);
    const before = await sandboxes();

    pod.open('gate');
    await pod.whenNoted('trigger', 2);
    await pod.whenNoted('bystander', 2);
    await pod.when('both run', (now) => now.containerStatuses?.every(({ state }) => state?.running) === true);
    expect([...pod.lines()].sort()).toEqual(['bystander', 'bystander', 'init', 'init', 'trigger', 'trigger']);
    expect(pod.lines().at(3)).toBe('init');
    expect(await sandboxes()).toEqual(before);
  });
});

describe.concurrent('an edit that cannot be run', () => {
  test('leaves the old pod running and says why; the next good edit replaces it', async () => {
    const pod = tellStory(node(), 'careful');
    const version = (v: string, image = BUSYBOX) => ({
      containers: [shell('main', lives(note(`${v} begins`), note(`${v} ends`)), { image })],
    });
    pod.tell(version('one'));
    const before = await node().whenRunning('careful');
    await pod.whenNoted('one begins');

    pod.tell(version('two', MISSING_IMAGE));
    const notes = await until('what is missing to be shown', async () => {
      const { pods } = await node().view();
      const of = pods.filter(({ pod: { metadata } }) => metadata.name === 'careful-node');
      return of.some((one) => one.note?.includes(MISSING_IMAGE)) && of.map((one) => [one.phase, one.note]);
    });
    expect(notes).toEqual([
      ['syncing', 'runs on until its new version can start'],
      ['waiting', expect.stringContaining('the former version runs on until this one can start: ') as string],
    ]);
    expect(await node().running('careful')).toEqual([before]);

    pod.tell(version('three'));
    await pod.whenNoted('three begins');
    await node().whenRunning('careful', ({ id }) => id !== before.id);
    expect(pod.lines()).toEqual(['one begins', 'one ends', 'three begins']);
  });

  test('ends the old pod all the same where the manifest asks for that', async () => {
    const pod = tellStory(node(), 'reckless');
    pod.tell({ containers: [shell('main', lives(note('one begins'), note('one ends')))] });
    await pod.whenNoted('one begins');
    await node().whenRunning('reckless');

    pod.tell({
      annotations: { 'rxlet.dev/update': 'immediate' },
      containers: [{ name: 'main', image: MISSING_IMAGE }],
    });
    await pod.whenNoted('one ends');
    const status = await pod.when('the image to be missed', (now) =>
      /ErrImagePull|ImagePullBackOff/.test(statusOf(now, 'main')?.state?.waiting?.reason ?? ''),
    );
    expect(status.phase).toBe('Pending');
    expect(await node().running('reckless')).toEqual([]);
  });
});

describe.concurrent('a pod with a UID of its own', () => {
  test('#13, #44: restarts only the container whose image changed, sidecar or not, in the same sandbox', async () => {
    const pod = tellStory(node(), 'fixed');
    const draft = (sidecar: string, main: string) => ({
      uid: 'fixed-uid',
      initContainers: [shell('sidecar', untilAsked(), { restartPolicy: 'Always', image: sidecar })],
      containers: [shell('main', untilAsked(), { image: main }), shell('other', untilAsked())],
    });
    const running = (count: number, changed: readonly string[] = []) =>
      until('the containers to run', async () => {
        const found = await node().running('fixed');
        return (
          found.length === count &&
          changed.every((name) => found.some((one) => one.name === name && one.attempt > 0)) &&
          new Map(found.map((one) => [one.name, one]))
        );
      });
    pod.tell(draft(BUSYBOX, BUSYBOX));
    const first = await running(3);

    pod.tell(draft(BUSYBOX, OTHER_IMAGE));
    const second = await running(3, ['main']);
    expect(second.get('main')).toMatchObject({ sandboxId: first.get('main')?.sandboxId, uid: 'fixed-uid', attempt: 1 });
    expect(second.get('other')).toEqual(first.get('other'));
    expect(second.get('sidecar')).toEqual(first.get('sidecar'));

    pod.tell(draft(OTHER_IMAGE, OTHER_IMAGE));
    const third = await running(3, ['main', 'sidecar']);
    expect(third.get('sidecar')).toMatchObject({ sandboxId: first.get('main')?.sandboxId, attempt: 1 });
    expect(third.get('main')).toEqual(second.get('main'));
    expect(third.get('other')).toEqual(first.get('other'));
  });

  test('#13: restarts nothing for a change of env', async () => {
    const pod = tellStory(node(), 'calm');
    const draft = (v: string, image = BUSYBOX) => ({
      uid: 'calm-uid',
      containers: [
        shell('main', lives(note('main $V')), { env: [{ name: 'V', value: v }] }),
        shell('marker', untilAsked(), { image }),
      ],
    });
    pod.tell(draft('one'));
    await pod.whenNoted('main one');
    await pod.when('both run', (now) => now.containerStatuses?.filter(({ state }) => state?.running).length === 2);

    // The marker restarts, so the change was read; and with it went the one of env.
    pod.tell(draft('two', OTHER_IMAGE));
    const status = await pod.when('the marker is restarted', (now) => statusOf(now, 'marker')?.restartCount === 1);
    expect(statusOf(status, 'main')?.restartCount).toBe(0);
    expect(conditionOf(status, 'Initialized')).toBe('True');
    expect(pod.lines()).toEqual(['main one']);
  });
});
