import { beforeAll, describe, expect, test } from 'vitest';
import type { PodStatus } from '../../src/model/pod.ts';
import { shell } from './harness/pod-json.ts';
import {
  conditionOf,
  note,
  statusOf,
  tellStory,
  untilAsked,
  waitFor,
  whenNotes,
  type Story,
  lives,
} from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

/** Every pod below is in the midst of something when the agent is killed, and it is killed only once. */
const NAMES = [
  'in-init',
  'in-post-start',
  'in-pre-stop',
  'in-grace',
  'in-back-off',
  'is-ready',
  'has-succeeded',
  'is-late',
  'has-sidecar',
] as const;
type Name = (typeof NAMES)[number];

const node = sharedNode();
let pods: Readonly<Record<Name, Story>>;
let before: Readonly<Record<Name, PodStatus | undefined>>;
/** What was served of the ready pod from before the kill until after the start. */
const readiness: (string | undefined)[] = [];

describe.concurrent('an agent that is killed and comes back', () => {
  beforeAll(async () => {
    pods = Object.fromEntries(NAMES.map((name) => [name, tellStory(node(), name)])) as Record<Name, Story>;
    tellAll(pods);
    await Promise.all(arrivals(pods));
    pods['in-back-off'].open('crash');
    pods['in-pre-stop'].remove();
    pods['in-grace'].remove();
    const [backOff] = await Promise.all([
      // Its wait has only begun, so that the ten seconds are not over when the agent comes back.
      pods['in-back-off'].when(
        'back-off',
        (now) =>
          statusOf(now, 'main')?.restartCount === 1 &&
          now.containerStatuses?.at(0)?.state?.waiting?.reason === 'CrashLoopBackOff',
      ),
      pods['in-pre-stop'].whenNoted('hook begins'),
      pods['in-grace'].whenNoted('asked to end'),
    ]);
    const served = await Promise.all(NAMES.map(async (name) => [name, (await node().pod(name))?.status] as const));
    before = { ...(Object.fromEntries(served) as Record<Name, PodStatus | undefined>), 'in-back-off': backOff };

    await sampleReadiness();
    await node().signal('SIGKILL');
    await node().start();
    for (let i = 0; i < 40; i++) await sampleReadiness();
  });

  test('in the init phase goes on with the init container that runs', async () => {
    const pod = pods['in-init'];
    pod.open('gate');
    await pod.whenNoted('main begins');
    expect(pod.lines()).toEqual(['init begins', 'init ends', 'main begins']);
    const status = await pod.when('it runs', ({ phase }) => phase === 'Running');
    expect(statusOf(status, 'init')?.restartCount).toBe(0);
  });

  test('in a postStart hook starts the containers that come after it, and none twice', async () => {
    const pod = pods['in-post-start'];
    pod.open('gate');
    await pod.whenNoted('two begins');
    await pod.when(
      'both run',
      (now) =>
        now.containerStatuses?.every(({ state }) => state?.running) === true && now.containerStatuses.length === 2,
    );
    expect(pod.lines().filter((line) => line === 'one begins')).toHaveLength(1);
  });

  test('in a preStop hook of a pod whose manifest is gone runs the hook, and then ends the pod', async () => {
    const pod = pods['in-pre-stop'];
    await pod.whenNoted('hook begins', 2);
    expect(pod.lines()).not.toContain('asked to end');
    pod.open('gate');
    await node().whenGone('in-pre-stop');
    expect(pod.lines().filter((line) => line === 'asked to end')).toHaveLength(1);
    expect(pod.lines().at(-1)).toBe('asked to end');
  });

  test('in the grace of a pod lets it have its time, and cleans up after it', async () => {
    const pod = pods['in-grace'];
    pod.open('gate');
    await node().whenGone('in-grace');
    expect(pod.lines().at(-1)).toBe('ends by itself');
  });

  test('in a back-off starts the container no earlier than the back-off says', async () => {
    const pod = pods['in-back-off'];
    const ended = statusOf(before['in-back-off'] ?? {}, 'main')?.lastState?.terminated?.finishedAt ?? '';
    await until('the third start', () => pod.lines('begins').length >= 3);
    const third = Number(pod.lines('begins').at(2));
    expect(third - Date.parse(ended) / 1_000).toBeGreaterThanOrEqual(9); // both are whole seconds
    await pod.when(
      'a longer wait',
      (now) =>
        statusOf(now, 'main')?.state?.waiting?.message?.startsWith('back-off 20s') === true &&
        statusOf(now, 'main')?.restartCount === 2,
    );
  });

  test('serves a ready pod as ready at every moment', async () => {
    expect(readiness.length).toBeGreaterThan(10);
    expect(new Set(readiness)).toEqual(new Set(['True']));
    const pod = pods['is-ready'];
    const asked = pod.lines().length;
    await pod.whenNoted('asked', asked + 1);
    const status = await pod.when('it is there', () => true);
    expect(statusOf(status, 'main')).toEqual(statusOf(before['is-ready'] ?? {}, 'main'));
  });

  test('leaves a pod that has succeeded as it is', async () => {
    const pod = pods['has-succeeded'];
    const status = await pod.when('it has succeeded', ({ phase }) => phase === 'Succeeded');
    expect(statusOf(status, 'main')?.state?.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(pod.lines()).toEqual(['helper begins', 'main begins']);
    expect(await node().running('has-succeeded')).toEqual([]);
  });

  test('leaves a pod that was longer than its deadline as it is', async () => {
    const pod = pods['is-late'];
    const status = await pod.when('it is there', () => true);
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    });
    expect(await node().running('is-late')).toEqual([]);
    expect(pod.lines()).toEqual(['begins']);
  });

  test('#43: starts again the main container that crashes beside a sidecar with a startup probe', async () => {
    const pod = pods['has-sidecar'];
    pod.open('crash');
    await pod.whenNoted('main begins', 2);
    const status = await pod.when('one restart', (now) => statusOf(now, 'main')?.restartCount === 1);
    expect(statusOf(status, 'sidecar')).toMatchObject({ started: true, restartCount: 0 });
  });
});

function tellAll(of: Readonly<Record<Name, Story>>): void {
  of['in-init'].tell({
    initContainers: [shell('init', `${note('init begins')}; ${waitFor('gate')}; ${note('init ends')}`)],
    containers: [shell('main', lives(note('main begins')))],
  });
  of['in-post-start'].tell({
    containers: [
      shell('one', lives(note('one begins')), {
        lifecycle: { postStart: { exec: { command: ['sh', '-c', `${note('hook begins')}; ${waitFor('gate')}`] } } },
      }),
      shell('two', lives(note('two begins'))),
    ],
  });
  of['in-pre-stop'].tell({
    terminationGracePeriodSeconds: 300,
    containers: [
      shell('main', untilAsked(note('asked to end')), {
        lifecycle: { preStop: { exec: { command: ['sh', '-c', `${note('hook begins')}; ${waitFor('gate')}`] } } },
      }),
    ],
  });
  of['in-grace'].tell({
    terminationGracePeriodSeconds: 300,
    containers: [
      shell('main', lives(note('begins'), `${note('asked to end')}; ${waitFor('gate')}; ${note('ends by itself')}`)),
    ],
  });
  of['in-back-off'].tell({
    containers: [
      shell('main', `date +%s >> /node/begins; [ $(wc -l < /node/begins) -ge 2 ] || ${waitFor('crash')}; exit 1`),
    ],
  });
  of['is-ready'].tell({
    containers: [
      shell('main', untilAsked(), {
        readinessProbe: { exec: { command: ['sh', '-c', note('asked')] }, periodSeconds: 1, timeoutSeconds: 10 },
      }),
    ],
  });
  of['has-succeeded'].tell({
    restartPolicy: 'Never',
    initContainers: [shell('helper', lives(note('helper begins')), { restartPolicy: 'Always' })],
    containers: [shell('main', `${whenNotes('helper begins')}; ${note('main begins')}`)],
  });
  of['is-late'].tell({
    activeDeadlineSeconds: 5,
    containers: [shell('main', lives(note('begins')))],
  });
  of['has-sidecar'].tell({
    initContainers: [
      shell('sidecar', untilAsked(), {
        restartPolicy: 'Always',
        startupProbe: { exec: { command: ['true'] }, periodSeconds: 1, timeoutSeconds: 10 },
      }),
    ],
    containers: [
      shell('main', `${note('main begins')}; [ -e /node/crash ] || { ${waitFor('crash')}; exit 1; }; ${untilAsked()}`),
    ],
  });
}

/** Each resolves when its pod has come to where it is to be met by the kill, or nearly so. */
function arrivals(of: Readonly<Record<Name, Story>>): readonly Promise<unknown>[] {
  const runs = (name: Name): Promise<unknown> =>
    of[name].when('it runs', (now) => now.containerStatuses?.some(({ state }) => state?.running) === true);
  const ready = (name: Name): Promise<unknown> =>
    of[name].when('it is ready', (now) => conditionOf(now, 'Ready') === 'True');
  return [
    of['in-init'].whenNoted('init begins'),
    of['in-post-start'].whenNoted('hook begins'),
    runs('in-pre-stop'),
    of['in-grace'].whenNoted('begins'),
    runs('in-grace'),
    ready('is-ready'),
    of['has-succeeded'].when('it has succeeded', ({ phase }) => phase === 'Succeeded'),
    of['is-late']
      .when('it has failed', ({ phase, reason }) => phase === 'Failed' && reason === 'DeadlineExceeded')
      .then(() => until('it to be ended', async () => (await node().running('is-late')).length === 0)),
    ready('has-sidecar'),
    runs('in-back-off'),
  ];
}

async function sampleReadiness(): Promise<void> {
  const status = await pods['is-ready'].when('it is served', () => true);
  readiness.push(conditionOf(status, 'Ready'));
}
