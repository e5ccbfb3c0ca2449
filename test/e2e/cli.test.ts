import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { NodeView } from '../../src/streams/view/node-view.ts';
import { followRxlet, rxlet } from './harness/cli.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { HOST } from './harness/runtime-look.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

describe('the command line beside a running agent', () => {
  test('tells what runs, what happened, what is wrong and what would change', async () => {
    const node = await testNode();
    await node.start();
    const followed = followRxlet(node, 'events', '-w', '-o', 'yaml');
    node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT }));
    node.dropManifest('crash.yaml', podYaml({ name: 'crash', run: 'exit 3' }));
    node.dropManifest('talk.yaml', podYaml({ name: 'talk', run: `echo one; echo two; ${OBEDIENT}` }));
    node.dropManifest('broken.yaml', podYaml({ name: 'broken', run: OBEDIENT }).replace('image:', 'imge:'));
    const { id } = await node.whenRunning('web');

    await node.whenRunning('talk');
    const table = await until('the states to be told', async () => {
      const { out } = await rxlet(node, 'ps');
      return /^crash-node +main +CrashLoopBackOff/m.test(out) && /^web-node +main +Running/m.test(out) && out;
    });
    expect(table).toContain('broken.yaml:9:5');
    for (const args of [
      ['ps', '-o', 'name'],
      ['get', 'pods', '-o', 'name'],
    ])
      expect((await rxlet(node, ...args)).out).toBe(
        `default/crash-${HOST}\ndefault/talk-${HOST}\ndefault/web-${HOST}\n`,
      );
    const view = JSON.parse((await rxlet(node, 'get', 'pods', 'web', '-o', 'json')).out) as NodeView;
    expect(view.pods.map(({ status }) => status.phase)).toEqual(['Running']);
    expect(parse((await rxlet(node, 'get', 'po', 'web', '-o', 'yaml')).out)).toMatchObject({
      pods: [{ pod: { metadata: { name: `web-${HOST}` } } }],
    });
    expect((await rxlet(node, 'ps', 'web', '-o', 'wide')).out).toContain('docker.io/library/busybox:1.35');

    const described = await until('the back-off to be told as an event too', async () => {
      const answer = await rxlet(node, 'describe', 'pod/crash');
      return /^ *\d+s.* Warning +BackOff/m.test(answer.out) && answer;
    });
    expect(described.out).toMatch(/^ {4}Last State: +Terminated\n +Reason: +Error\n +Exit Code: +3$/m);
    const unknown = await rxlet(node, 'describe', 'wbe');
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toContain(`Did you mean web-${HOST}?`);

    const events = await rxlet(node, 'events', '--for', 'web', '-o', 'json');
    expect((JSON.parse(events.out) as { readonly reason: string }[]).map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['Pulled', 'Created', 'Started']),
    );
    await until('every event to be followed', () =>
      ['Pulled', 'Created', 'Started'].every((reason) =>
        parseAllDocuments(followed.out()).some((document) => {
          const event = document.toJS() as { readonly reason: string; readonly of: { readonly name: string } } | null;
          return event?.of.name === `web-${HOST}` && event.reason === reason;
        }),
      ),
    );

    const where = await rxlet(node, 'exec', 'web', '--', 'sh', '-c', 'echo here; exit 5');
    expect(where).toMatchObject({ code: 5, out: 'here\n' });
    await until('the last line', async () => (await rxlet(node, 'logs', 'talk', '--tail', '1')).out === 'two\n');

    const problems = await rxlet(node, 'problems');
    expect(problems).toMatchObject({ code: 1, err: 'rxlet: 1 problem\n' });
    expect(problems.out).toMatch(/broken\.yaml:9:5: spec\.containers\[0\]\.imge: unknown field, did you mean image\?/);

    // The first use of the processor is known when it has been measured twice.
    await until('the use of the pod and of the node to be known', async () => {
      const { out } = await rxlet(node, 'top');
      return /^web-node +\d+m +\d+Mi$/m.test(out) && /^node +\d+m +\d+Mi$/m.test(out);
    });

    await expectPlan(node, id);
  });

  test('stops, starts and restarts pods for real, also over a restart of the agent', async () => {
    const node = await testNode();
    await node.start();
    node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT }));
    node.dropManifest('other.yaml', podYaml({ name: 'other', run: OBEDIENT }));
    const other = await node.whenRunning('other');
    const first = await node.whenRunning('web');
    const watched = followRxlet(node, 'ps', '-w');
    await until('the pod to be watched', () => /^web-node +main +Running/m.test(watched.out()));

    expect(await rxlet(node, 'stop', 'web')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`default/web-${HOST} is being stopped`) as string,
    });
    await node.whenGone('web');
    await until('the stop to be watched', () => /^web-node +main +Stopped/m.test(watched.out()));
    expect((await rxlet(node, 'stop', 'web')).out).toBe(`default/web-${HOST} is stopped already\n`);

    await node.signal('SIGKILL');
    await until('the end of the agent to be watched', () => watched.out().includes('The agent does not answer'));
    expect(await rxlet(node, 'ps')).toMatchObject({ code: 4, out: '' });
    await node.start();
    await until('the pod to be stopped still', async () =>
      /^web-node +main +Stopped/m.test((await rxlet(node, 'ps')).out),
    );
    await until('the new agent to be watched', () =>
      /^web-node +main +Stopped/m.test(watched.out().slice(watched.out().lastIndexOf('does not answer'))),
    );
    expect((await node.runtime.sandboxes()).map(({ pod }) => pod)).toEqual(['other']);

    expect((await rxlet(node, 'start', 'web')).out).toBe(`default/web-${HOST} is being started\n`);
    const second = await node.whenRunning('web');
    expect(second.sandboxId).not.toBe(first.sandboxId);
    expect((await rxlet(node, 'start', 'web')).out).toContain('is not stopped');

    expect((await rxlet(node, 'restart', 'web')).code).toBe(0);
    const third = await node.whenRunning('web', ({ id }) => id !== second.id);
    expect(third.sandboxId).not.toBe(second.sandboxId);
    expect(third.attempt).toBe(0);

    await rxlet(node, 'stop', 'web');
    await node.whenGone('web');
    node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT, env: { NEW: 'yes' } }));
    await node.whenRunning('web');

    expect(await rxlet(node, 'stop', 'web', 'nobody')).toMatchObject({ code: 2, out: '' });
    await node.whenRunning('web');
    expect((await node.whenRunning('other')).id).toBe(other.id);
  });
});

/** Of the agent's own folder nothing is to be done; of a changed copy all of it, and neither touches a container. */
async function expectPlan(node: TestNode, web: string): Promise<void> {
  rmSync(join(node.paths.manifests, 'broken.yaml'));
  expect(await rxlet(node, 'plan', node.paths.manifests)).toMatchObject({
    code: 0,
    out: `  default/crash-${HOST}  stay\n  default/talk-${HOST}   stay\n  default/web-${HOST}    stay\n3 stay\n`,
  });

  const next = join(node.paths.manifests, '..', 'next');
  mkdirSync(next);
  cpSync(node.paths.manifests, next, { recursive: true });
  writeFileSync(join(next, 'web.yaml'), podYaml({ name: 'web', run: OBEDIENT, env: { NEW: 'yes' } }));
  writeFileSync(join(next, 'new.yaml'), podYaml({ name: 'new', run: OBEDIENT }));
  rmSync(join(next, 'crash.yaml'));
  const plan = await rxlet(node, 'plan', next);
  expect(plan.out).toBe(
    [
      `- default/crash-${HOST}  stop     no source wants it any more`,
      `+ default/new-${HOST}    start    it is new`,
      `  default/talk-${HOST}   stay`,
      `~ default/web-${HOST}    replace  spec.containers[0].env changed`,
      '1 stop, 1 start, 1 stay, 1 replace',
      '',
    ].join('\n'),
  );
  expect(plan).toMatchObject({ code: 1, err: 'rxlet: 3 pods would change\n' });
  expect((await node.whenRunning('web')).id).toBe(web);
}
