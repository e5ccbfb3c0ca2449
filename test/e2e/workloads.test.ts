import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../../src/streams/trace/trace-event.ts';
import { rxlet } from './harness/cli.ts';
import { BUSYBOX } from './harness/pod-json.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const FOREVER = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";

function workload(kind: 'Deployment' | 'DaemonSet' | 'Job', run: string, spec: object, pod: object = {}): string {
  const labels = { app: 'web' };
  const template = {
    metadata: { labels },
    spec: {
      terminationGracePeriodSeconds: 1,
      ...pod,
      containers: [{ name: 'main', image: BUSYBOX, command: ['sh', '-c', run] }],
    },
  };
  const isJob = kind === 'Job';
  return JSON.stringify({
    apiVersion: isJob ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: 'web' },
    spec: { ...spec, ...(isJob ? {} : { selector: { matchLabels: labels } }), template },
  });
}

async function phases(node: TestNode): Promise<readonly string[]> {
  const pods = await node.pods();
  return pods.map(({ metadata, status }) => `${metadata.name.split('-').slice(0, 2).join('-')} ${status.phase ?? ''}`);
}

describe('workloads in manifests', () => {
  test('a Deployment of two rolls to its next version without fewer running, and goes with its file', async () => {
    const node = await testNode();
    node.dropManifest('web.yaml', workload('Deployment', FOREVER, { replicas: 2 }));
    await node.start();
    const before = [await node.whenRunning('web-0'), await node.whenRunning('web-1')].map(({ id }) => id);
    const both = ['web-0 Running', 'web-1 Running'].join();
    // One that the agent does not know to be ready may be replaced at once.
    await until('both to be known as running', async () => (await phases(node)).toSorted().join() === both);

    node.dropManifest('web.yaml', workload('Deployment', `: next; ${FOREVER}`, { replicas: 2 }));
    let fewest = 2;
    await until('both pods to be of the next version', async () => {
      const now = (await node.runtime.containers()).filter(({ state }) => state === 'running');
      fewest = Math.min(fewest, now.length);
      return now.length === 2 && now.every(({ id }) => !before.includes(id)) && (await node.pods()).length === 2;
    });
    expect(fewest).toBe(2);
    await until('both to be told as running', async () => (await phases(node)).toSorted().join() === both);

    node.removeManifest('web.yaml');
    await node.whenGone('web-0');
    await node.whenGone('web-1');
  });

  test('a DaemonSet has one pod of its name, and an edit takes its place; a Recreate never runs both versions', async () => {
    const node = await testNode();
    const [old, next] = [`: old; ${FOREVER}`, `: next; ${FOREVER}`];
    const recreate = (run: string): string =>
      workload('Deployment', run, { replicas: 2, strategy: { type: 'Recreate' } }).replaceAll('"web"', '"one"');
    node.dropManifest('set.yaml', workload('DaemonSet', old, {}));
    node.dropManifest('one.yaml', recreate(old));
    await node.start();
    const names = ['web', 'one-0', 'one-1'];
    const before = await Promise.all(names.map(async (name) => (await node.whenRunning(name)).id));
    const running = ['one-0 Running', 'one-1 Running', 'web-node Running'];
    await until('all to be told as running', async () => (await phases(node)).toSorted().join() === running.join());

    node.dropManifest('set.yaml', workload('DaemonSet', next, {}));
    node.dropManifest('one.yaml', recreate(next));
    const after = await until('all pods to be of the next version', async () => {
      const running = (await node.runtime.containers()).filter(({ state }) => state === 'running');
      return running.length === 3 && running.every(({ id }) => !before.includes(id)) && running;
    });
    const begun = after.filter(({ pod }) => pod.startsWith('one-')).map(({ createdAt }) => createdAt);
    const outcomes = (await rxlet(node, 'trace', '-o', 'json')).out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as TraceEvent);
    const ended = outcomes.flatMap((event) =>
      event.kind === 'outcome' && event.pod.name.startsWith('one-') && event.outcome === 'ended' ? [event.at] : [],
    );
    expect(ended).toHaveLength(2);
    expect(Math.min(...begun)).toBeGreaterThanOrEqual(Math.max(...ended));

    node.removeManifest('set.yaml');
    await node.whenGone('web');
  });

  test('a Job completes, and stays completed over a restart of the agent', async () => {
    const node = await testNode();
    node.dropManifest('job.yaml', workload('Job', 'exit 0', { completions: 2 }, { restartPolicy: 'Never' }));
    await node.start();
    const complete = ['web-0 Succeeded', 'web-1 Succeeded'];
    await until('the Job to be complete', async () => (await phases(node)).toSorted().join() === complete.join());
    const ids = (await node.runtime.containers()).map(({ id }) => id).toSorted();

    await node.signal('SIGKILL');
    await node.start();
    await until(
      'the Job to be known as complete',
      async () => (await phases(node)).toSorted().join() === complete.join(),
    );
    // What is run after them shows that the Job has had its chance.
    node.dropManifest('web.yaml', workload('Deployment', FOREVER, { replicas: 1 }).replaceAll('"web"', '"after"'));
    await node.whenRunning('after-0');
    expect((await phases(node)).filter((text) => text.startsWith('web'))).toEqual(complete);
    const after = (await node.runtime.containers()).filter(({ pod }) => pod.startsWith('web'));
    expect(after.map(({ id }) => id).toSorted()).toEqual(ids);
    expect(await node.problems()).toEqual([]);
  });
});
