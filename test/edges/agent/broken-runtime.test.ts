import { createServer, type Server, type Socket } from 'node:net';
import { firstValueFrom, Subscription } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { serveNode } from '../../../src/cli/simulate/serve-node.ts';
import { connectCri } from '../../../src/runtime/cri/connect-cri.ts';
import type { Fault, Faults } from '../../../src/simulation/faults.ts';
import { LATENCIES } from '../../../src/simulation/latencies.ts';
import type { SimulatedContainer, SimulatedSandbox } from '../../../src/simulation/node-objects.ts';
import { NEW_NODE } from '../../../src/simulation/node-state.ts';
import { simulatedNode, type SimulatedNode } from '../../../src/simulation/simulated-node.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import { ground, LIMIT, type Ground } from './ground.ts';

const FOR_EVER = ['httpd', '-f'];
const QUICK = Object.fromEntries(Object.keys(LATENCIES).map((name) => [name, [0, 1] as const]));
const MIB = 1024 * 1024;

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

describe('what the user keeps on a slow, stuck or broken runtime', () => {
  test('one sandbox, of which the answer was slow but came in time', async () => {
    using here = ground();
    const { world } = await served(here, first('RunPodSandbox', { kind: 'slow', by: 1_500 }));
    here.startAgent('30s');
    here.write('web', FOR_EVER);
    await here.running('web');

    expect(made(world)).toEqual(['sandbox', 'container']);
  });

  test('a pod that starts though calls hung: each is given up at its deadline, here and there, and tried again', async () => {
    using here = ground();
    const { world } = await served(here, first('CreateContainer', { kind: 'hang' }, 2));
    const agent = here.startAgent('3s');
    here.write('web', FOR_EVER);
    await here.running('web');

    const creations = world.calls.filter(({ name }) => name === 'CreateContainer').map(({ outcome }) => outcome);
    expect([...creations.slice(0, 2), creations.at(-1)]).toEqual(['cancelled', 'cancelled', 'ok']);
    expect(agent.errors()).toContain('Deadline exceeded after 3s');
    expect(made(world)).toEqual(['sandbox', 'container']);
  });

  test('the one sandbox that was made, though the answer was lost', async () => {
    using here = ground();
    const { world } = await served(here, first('RunPodSandbox', { kind: 'loseAnswer', error: 'deadline' }));
    here.startAgent('3s');
    here.write('web', FOR_EVER);
    await here.running('web');

    expect(world.running()).toHaveLength(1);
    expect(world.sandboxes().filter(({ state }) => state === 'ready')).toHaveLength(1);
  });

  test('the end of a pod, when its stop hung in the middle', async () => {
    using here = ground();
    const { world } = await served(here, first('StopContainer', { kind: 'hang' }));
    here.startAgent('3s');
    here.write('web', FOR_EVER);
    await here.running('web');
    here.remove('web');

    await expect.poll(() => [world.sandboxes(), world.containers()], LIMIT).toEqual([[], []]);
  });

  test('the restart of what ends, also after the stream of events was cut', async () => {
    using here = ground();
    const { world } = await served(here);
    here.startAgent('30s');
    here.write('web', FOR_EVER);
    const before = await here.running('web');

    world.cutEvents();
    world.exit(before.containers[0]?.id ?? '', 1);
    const after = await here.running('web', before);
    expect(after.containers[0]?.restarts).toBe(1);
    await expect
      .poll(() => world.calls.filter(({ name, outcome }) => name === 'GetContainerEvents' && !outcome).length, LIMIT)
      .toBe(1);
  });

  test('every pod, as soon as a runtime that takes connections and never answers is replaced', async () => {
    using here = ground();
    const mute = await silence(here.cri);
    const agent = here.startAgent('3s');
    here.write('web', FOR_EVER);
    await expect.poll(agent.errors, LIMIT).toContain('waiting for the container runtime: ');
    expect((await here.get('/livez')).status).toBe(200);
    expect((await here.get('/readyz')).status).toBe(500);

    await mute.end();
    const { world } = await served(here);
    await here.running('web');
    expect(made(world)).toEqual(['sandbox', 'container']);
  });
});

describe('lists of a runtime with very many containers', () => {
  test('are read up to 16 MiB, and a larger one is an error that names both sizes', async () => {
    using here = ground();
    const [small, large] = [crowd(4_500, 3_300), crowd(5_500, 3_300)];
    await served(here, undefined, small);
    const cri = await connection(here);
    const { containers = [] } = await firstValueFrom(cri.listContainers({}));
    expect(containers).toHaveLength(4_500);
    expect(JSON.stringify(containers).length).toBeGreaterThan(14 * MIB);
    held.unsubscribe();
    held = new Subscription();

    await served(here, undefined, large);
    const again = await connection(here);
    await expect(firstValueFrom(again.listContainers({}))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/^trying to send message larger than max \(\d+ vs\. 16777216\)$/) as string,
    });
    // The rest is served on.
    await expect(firstValueFrom(again.version())).resolves.toMatchObject({ runtimeName: 'simulated' });
  });
});

/** A simulated node of this process, served where the agent looks for one. */
function served(here: Ground, faults?: Faults, from = NEW_NODE): Promise<SimulatedNode> {
  const node = simulatedNode({ seed: 1, latencies: QUICK, from, ...(faults && { faults }) });
  return new Promise((resolve, reject) => {
    held.add(
      serveNode(node, here.cri).subscribe({
        next: () => {
          resolve(node);
        },
        error: reject,
      }),
    );
  });
}

/** The first calls of a name meet a fault. */
function first(name: string, fault: Fault, times = 1): Faults {
  return (call) => (call.name === name && call.nth < times ? fault : undefined);
}

function made({ history }: SimulatedNode['world']): readonly string[] {
  return history.filter(({ kind }) => kind === 'created').map(({ container }) => (container ? 'container' : 'sandbox'));
}

/** A socket on which everything is taken and nothing is answered. */
async function silence(path: string): Promise<{ readonly end: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => {
        resolve();
      });
    });
  held.add(() => void end());
  return { end };
}

function connection(here: Ground): Promise<Cri> {
  return new Promise((resolve, reject) => {
    const address = { runtimeEndpoint: here.endpoint, imageEndpoint: here.endpoint, requestTimeout: 60_000 };
    held.add(connectCri(address).subscribe({ next: resolve, error: reject }));
  });
}

/** What a runtime remembers of so many containers with annotations of so many bytes each. */
function crowd(count: number, bytes: number): typeof NEW_NODE {
  const sandbox: SimulatedSandbox = {
    id: 'a'.repeat(64),
    config: { metadata: { name: 'crowd', namespace: 'default', uid: 'u' } },
    state: 'notReady',
    createdAt: 1,
    runtimeHandler: '',
  };
  const containers = Array.from({ length: count }, (_, n): SimulatedContainer => {
    const labels = { 'app.kubernetes.io/name': `one-of-very-many-${n}` };
    return {
      id: n.toString(16).padStart(64, '0'),
      sandboxId: sandbox.id,
      config: {
        metadata: { name: `c${n}` },
        image: { image: 'busybox' },
        labels,
        annotations: { note: 'x'.repeat(bytes) },
      },
      imageRef: 'busybox',
      state: 'exited',
      createdAt: n + 2,
      startedAt: n + 2,
      finishedAt: n + 2,
      exitCode: 0,
      reason: 'Completed',
      message: '',
      resources: {},
    };
  });
  return { ...NEW_NODE, lives: 1, sandboxes: [sandbox], containers };
}
