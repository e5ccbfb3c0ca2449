import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { podJson, shell } from './harness/pod-json.ts';
import { conditionOf, note, statusOf, tellStory, untilAsked, waitFor, lives } from './harness/story.ts';
import { sharedNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

describe.concurrent('what users of such agents complained about', () => {
  test('#1: an edit in vim ends with the new pod, once', async () => {
    const pod = tellStory(node(), 'vim');
    const version = (v: string) => ({
      containers: [shell('main', lives(note(`${v} begins`), note(`${v} ends`)))],
    });
    pod.tell(version('early'));
    await pod.whenNoted('early begins');
    await node().whenRunning('vim');

    const path = (name: string): string => join(node().paths.manifests, name);
    const text = readFileSync(path('vim.yaml'), 'utf8').replaceAll('early', 'late');
    writeFileSync(path('.vim.yaml.swp'), 'b0VIM 9.0');
    writeFileSync(path('4913'), '');
    rmSync(path('4913'));
    renameSync(path('vim.yaml'), path('vim.yaml~'));
    writeFileSync(path('vim.yaml'), text);
    rmSync(path('vim.yaml~'));
    rmSync(path('.vim.yaml.swp'));

    await pod.whenNoted('late begins');
    await node().whenRunning('vim');
    expect(pod.lines()).toEqual(['early begins', 'early ends', 'late begins']);
  });

  test('#2: a backup beside a manifest is no pod', async () => {
    const pod = tellStory(node(), 'backed-up');
    const twin = podJson({ name: 'backed-up', containers: [shell('main', untilAsked())] });
    writeFileSync(join(node().paths.manifests, 'backed-up.yaml.bak'), twin);
    pod.tell({ containers: [shell('main', lives(note('begins')))] });

    await pod.whenNoted('begins');
    await node().whenRunning('backed-up');
    expect((await node().pods()).filter(({ metadata }) => metadata.name === 'backed-up-node')).toHaveLength(1);
    expect((await node().problems()).filter(({ message }) => message.includes('backed-up'))).toEqual([]);
  });

  test('#5, #56: of many edits and a removal during a long grace, the last edit runs once, after the grace', async () => {
    const pod = tellStory(node(), 'hurried');
    const version = (v: string) => ({
      terminationGracePeriodSeconds: 300,
      containers: [
        shell('main', lives(note(`${v} begins`), `${note(`${v} asked`)}; ${waitFor('gate')}; ${note(`${v} ends`)}`)),
      ],
    });
    pod.tell(version('one'));
    await pod.whenNoted('one begins');
    await node().whenRunning('hurried');

    pod.tell(version('two'));
    await pod.whenNoted('one asked');
    pod.tell(version('three'));
    pod.tell(version('four'));
    pod.remove();
    pod.tell(version('five'));
    await until('the last edit to be known', async () =>
      (await node().view()).pods.some((one) => JSON.stringify(one.pod.spec).includes('five begins')),
    );
    pod.open('gate');
    await pod.whenNoted('five begins');
    await node().whenRunning('hurried');
    expect(pod.lines()).toEqual(['one begins', 'one asked', 'one ends', 'five begins']);
  });

  test('#32: a run of 300 ms is seen, with its exit code', async () => {
    const pod = tellStory(node(), 'brief');
    pod.tell({ restartPolicy: 'Never', containers: [shell('main', 'sleep 0.3; exit 7')] });

    const status = await pod.when('it has failed', ({ phase }) => phase === 'Failed');
    expect(statusOf(status, 'main')).toMatchObject({
      restartCount: 0,
      state: { terminated: { exitCode: 7, reason: 'Error' } },
    });
  });

  test('#40: the restart count goes on though somebody removes the dead containers', async () => {
    const pod = tellStory(node(), 'counted');
    pod.tell({ containers: [shell('main', lives(note('begins')))] });
    await node().whenRunning('counted');
    await kill(node(), 'counted', 'main');
    await pod.when(
      'one restart',
      (now) => statusOf(now, 'main')?.restartCount === 1 && statusOf(now, 'main')?.state?.running !== undefined,
    );

    await removeDead(node(), 'counted', 'main');
    await kill(node(), 'counted', 'main');
    const status = await pod.when('two restarts', (now) => (statusOf(now, 'main')?.restartCount ?? 0) >= 2);
    expect(statusOf(status, 'main')?.restartCount).toBe(2);
  });

  test('#41: removing the init container that has ended does not run it again', async () => {
    const pod = tellStory(node(), 'initialized');
    pod.tell({
      initContainers: [shell('init', note('init'))],
      containers: [shell('main', lives(note('main')))],
    });
    await pod.whenNoted('main');
    await pod.when('it runs', ({ phase }) => phase === 'Running');

    await removeDead(node(), 'initialized', 'init');
    // The agent has looked at the pod since: it has seen its main container end and has started it again.
    await kill(node(), 'initialized', 'main');
    await pod.whenNoted('main', 2);
    const status = await pod.when('it runs again', (now) => statusOf(now, 'main')?.restartCount === 1);
    expect(pod.lines()).toEqual(['init', 'main', 'main']);
    expect(conditionOf(status, 'Initialized')).toBe('True');
  });

  test('#49: many probes restart nothing and leave no sockets behind', async () => {
    const pod = tellStory(node(), 'probed');
    const ports = [8081, 8082, 8083, 8084];
    pod.tell({
      containers: ports.map((port) =>
        shell(`c${port}`, `exec httpd -f -vv -p ${port} -h /etc 2>> /node/requests`, {
          livenessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 10 },
          readinessProbe: { httpGet: { path: '/passwd', port }, periodSeconds: 1, timeoutSeconds: 10 },
        }),
      ),
    });
    const { podIP = '' } = await pod.when('it is ready', (now) => conditionOf(now, 'Ready') === 'True');

    await until(
      'many to have been answered',
      () => pod.lines('requests').filter((line) => line.includes('response:200')).length >= 60,
    );
    const status = await pod.when('it is there', () => true);
    expect(status.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 0, 0, 0]);
    expect(socketsTo(podIP)).toBeLessThanOrEqual(2 * ports.length);
  });

  test('#55: a pod that the runtime cannot end holds up no other, and ends once it can', async () => {
    const pod = tellStory(node(), 'stuck');
    pod.tell({ terminationGracePeriodSeconds: 2, containers: [shell('main', lives(note('begins')))] });
    await pod.whenNoted('begins');
    const { id } = await node().whenRunning('stuck');
    const shim = parentOf((await node().runtime.times(id)).pid);

    process.kill(shim, 'SIGSTOP');
    try {
      pod.remove();
      const other = tellStory(node(), 'free');
      other.tell({ containers: [shell('main', lives(note('begins')))] });
      await other.whenNoted('begins');
      expect((await node().view()).pods.find((one) => one.pod.metadata.name === 'stuck-node')?.phase).toBe(
        'terminating',
      );
    } finally {
      process.kill(shim, 'SIGCONT');
    }
    await node().whenGone('stuck');
  });
});

describe('around a restart of the agent', () => {
  test('#7, #10: a manifest that changed meanwhile gives one new pod, after what was left of the old one', async () => {
    const dead = tellStory(node(), 'half-dead');
    const alive = tellStory(node(), 'alive');
    const version = (v: string) => ({
      containers: [shell('main', lives(note(`${v} begins`), `sleep 1; ${note(`${v} ends`)}`))],
    });
    for (const pod of [dead, alive]) pod.tell(version('one'));
    await Promise.all([dead.whenNoted('one begins'), alive.whenNoted('one begins')]);
    const { id, sandboxId } = await node().whenRunning('half-dead');

    await node().signal('SIGKILL');
    process.kill((await node().runtime.times(id)).pid, 'SIGKILL');
    for (const pod of [dead, alive]) pod.tell(version('two'));
    await node().start();

    await Promise.all([dead.whenNoted('two begins'), alive.whenNoted('two begins')]);
    expect(dead.lines()).toEqual(['one begins', 'two begins']);
    expect(alive.lines()).toEqual(['one begins', 'one ends', 'two begins']);
    await until(
      'the old sandbox to be gone',
      async () => !(await node().runtime.sandboxes()).some((one) => one.id === sandboxId),
    );
    for (const name of ['half-dead', 'alive']) await node().whenRunning(name);
  });

  test('#28: a container that was made and not started is started, though its pod restarts only on failure', async () => {
    const pod = tellStory(node(), 'made');
    pod.tell({ restartPolicy: 'OnFailure', containers: [shell('main', lives(note('begins')))] });
    await pod.whenNoted('begins');
    const { id: first } = await node().whenRunning('made');

    await node().signal('SIGKILL');
    process.kill(await pidOf(node(), first), 'SIGKILL');
    const made = await node().runtime.createInstead(first);
    await node().start();

    await pod.whenNoted('begins', 2);
    expect(await node().whenRunning('made')).toMatchObject({ id: made, attempt: 0 });
    const status = await pod.when('it runs', (now) => statusOf(now, 'main')?.containerID === `containerd://${made}`);
    expect(status.phase).toBe('Running');
    expect(statusOf(status, 'main')?.restartCount).toBe(0);
    expect(pod.lines()).toEqual(['begins', 'begins']);
  });
});

async function pidOf(of: TestNode, id: string): Promise<number> {
  const { pid } = await of.runtime.times(id);
  // That of whoever asks would be meant.
  if (pid <= 0) throw new Error(`container ${id} has no process`);
  return pid;
}

async function kill(of: TestNode, pod: string, container: string): Promise<void> {
  const { id } = await until(`${container} to run`, async () =>
    (await of.running(pod)).find(({ name }) => name === container),
  );
  process.kill(await pidOf(of, id), 'SIGKILL');
}

async function removeDead(of: TestNode, pod: string, container: string): Promise<void> {
  const dead = await until('the runtime to tell that it is dead', async () => {
    const found = (await of.runtime.containers()).filter(
      (one) => one.pod === pod && one.name === container && one.state === 'exited',
    );
    return found.length > 0 && found;
  });
  for (const { id } of dead) await of.runtime.remove(id);
}

function parentOf(pid: number): number {
  return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** TCP sockets of this node that lead to an address and are not closed; what the kernel alone still remembers is none. */
function socketsTo(ip: string): number {
  const hex = ip
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0').toUpperCase())
    .reverse()
    .join('');
  const columns = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  return columns.filter(([, , remote, state]) => remote?.startsWith(`${hex}:`) === true && state !== TIME_WAIT).length;
}

const TIME_WAIT = '06';
