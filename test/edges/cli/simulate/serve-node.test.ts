import { status } from '@grpc/grpc-js';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { Subscription } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { serveNode } from '../../../../src/cli/simulate/serve-node.ts';
import type { ContainerEventResponse } from '../../../../src/model/cri/api.ts';
import { LATENCIES } from '../../../../src/simulation/latencies.ts';
import { simulatedNode, type SimulatedNode } from '../../../../src/simulation/simulated-node.ts';
import { socketDir } from '../../runtime/cri/fake-runtime.ts';
import { plainClient, type PlainClient } from './plain-client.ts';

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

const QUICK = Object.fromEntries(Object.keys(LATENCIES).map((name) => [name, [0, 1] as const]));

const POD = {
  metadata: { name: 'web', namespace: 'default', uid: 'u1', attempt: 0 },
  labels: { app: 'web' },
  logDirectory: '/var/log/pods/web',
};
const CONTAINER = {
  metadata: { name: 'httpd', attempt: 0 },
  image: { image: 'busybox' },
  labels: { role: 'server' },
  logPath: 'httpd/0.log',
};

describe('serveNode, driven by a client of another make', () => {
  test('runs a pod from the pull of its image to its removal', async () => {
    const { client } = await served();

    expect(await client.call('Version', {})).toMatchObject({ runtimeName: 'simulated', runtimeApiVersion: 'v1' });
    expect(await client.call('Status', {})).toMatchObject({
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true },
          { type: 'NetworkReady', status: true },
        ],
      },
    });
    expect(await client.call('UpdateRuntimeConfig', {})).toEqual({});
    expect(await client.call('ImageStatus', { image: { image: 'busybox' } })).not.toHaveProperty('image');
    const { imageRef } = await client.call('PullImage', { image: { image: 'busybox' } });
    expect(await client.call('ListImages', {})).toMatchObject({
      images: [{ id: imageRef, repoTags: ['docker.io/library/busybox:latest'] }],
    });

    const { podSandboxId = '' } = await client.call('RunPodSandbox', { config: POD });
    const { containerId = '' } = await client.call('CreateContainer', { podSandboxId, config: CONTAINER });
    await client.call('StartContainer', { containerId });
    expect(await client.call('ContainerStatus', { containerId })).toMatchObject({
      status: { id: containerId, state: 'CONTAINER_RUNNING', logPath: '/var/log/pods/web/httpd/0.log' },
    });
    expect(await client.call('PodSandboxStatus', { podSandboxId })).toMatchObject({
      status: { id: podSandboxId, network: { ip: '10.88.0.2' } },
    });
    expect(await client.call('ExecSync', { containerId, cmd: ['true'] })).toEqual({});
    await client.call('UpdateContainerResources', { containerId, linux: { cpuShares: 512 } });
    await client.call('ReopenContainerLog', { containerId });
    expect(await client.call('ContainerStatus', { containerId })).toMatchObject({
      status: { resources: { linux: { cpuShares: 512 } } },
    });

    await client.call('StopContainer', { containerId, timeout: 5 });
    expect(await client.call('ContainerStatus', { containerId })).toMatchObject({
      status: { state: 'CONTAINER_EXITED', reason: 'Completed' },
    });
    await client.call('RemoveContainer', { containerId });
    await client.call('StopPodSandbox', { podSandboxId });
    await client.call('RemovePodSandbox', { podSandboxId });
    await client.call('RemoveImage', { image: { image: 'busybox' } });
    expect(await client.call('ListContainers', {})).toEqual({ containers: [] });
    expect(await client.call('ListPodSandbox', {})).toEqual({ items: [] });
    expect(await client.call('ListImages', {})).toEqual({ images: [] });
  });

  test('lists by id, by state and by label', async () => {
    const { client } = await served();
    const web = await running(client);
    const other = await running(client, { ...POD, metadata: { ...POD.metadata, uid: 'u2' }, labels: { app: 'db' } });
    await client.call('StopContainer', { containerId: other.containerId });

    const ids = async (filter: object): Promise<readonly unknown[]> =>
      ((await client.call('ListContainers', { filter })).containers ?? []).map(({ id }) => id);
    expect(await ids({ state: { state: 'CONTAINER_RUNNING' } })).toEqual([web.containerId]);
    expect(await ids({ podSandboxId: other.podSandboxId })).toEqual([other.containerId]);
    expect(await ids({ id: web.containerId.slice(0, 13) })).toEqual([web.containerId]);
    expect(await ids({ labelSelector: { role: 'server' } })).toHaveLength(2);
    expect(await ids({ labelSelector: { role: 'none' } })).toEqual([]);
    const { items = [] } = await client.call('ListPodSandbox', { filter: { labelSelector: { app: 'db' } } });
    expect(items.map(({ id }) => id)).toEqual([other.podSandboxId]);
  });

  test('tells what containers use, one by one and all', async () => {
    const { client } = await served({ containerBehaviour: () => ({ uses: { cpu: 0.25, memory: 5_000_000 } }) });
    const { podSandboxId, containerId } = await running(client);

    const mine = { cpu: { usageNanoCores: { value: 250_000_000 } }, memory: { workingSetBytes: { value: 5_000_000 } } };
    expect(await client.call('ContainerStats', { containerId })).toMatchObject({ stats: mine });
    expect(await client.call('ListContainerStats', {})).toMatchObject({ stats: [mine] });
    expect(await client.call('PodSandboxStats', { podSandboxId })).toMatchObject({
      stats: { attributes: { id: podSandboxId }, linux: { ...mine, containers: [mine] } },
    });
    expect(await client.call('ListPodSandboxStats', { filter: { labelSelector: { app: 'no' } } })).toEqual({
      stats: [],
    });
    expect(await client.call('ImageFsInfo', {})).toMatchObject({ imageFilesystems: [{ inodesUsed: { value: 1 } }] });
    await expect(client.call('ContainerStats', { containerId: 'none' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    });
  });

  test('tells each event to everybody who listens', async () => {
    const { client, node } = await served();
    const heard: ContainerEventResponse[] = [];
    const events = client.events();
    const isCut = new Promise((resolve) => events.on('error', resolve));
    events.on('data', (event: ContainerEventResponse) => heard.push(event));
    await expect.poll(() => node.world.calls.filter(({ name }) => name === 'GetContainerEvents')).toHaveLength(1);

    const { containerId } = await running(client);
    node.world.exit(containerId, 3);
    await expect
      .poll(() => heard.filter((event) => event.containerId === containerId).map((event) => event.containerEventType))
      .toEqual([undefined, 'CONTAINER_STARTED_EVENT', 'CONTAINER_STOPPED_EVENT']);
    expect(heard.at(-1)?.containersStatuses).toMatchObject([{ id: containerId, exitCode: 3 }]);

    node.world.cutEvents();
    await expect(isCut).resolves.toMatchObject({ code: status.UNAVAILABLE });
  });

  test('says why it does not do a thing', async () => {
    const { client } = await served();
    const { podSandboxId } = await running(client);

    await expect(client.call('ContainerStatus', { containerId: 'none' })).rejects.toMatchObject({
      code: status.NOT_FOUND,
      details: 'there is no none',
    });
    await expect(client.call('CreateContainer', { podSandboxId, config: CONTAINER })).rejects.toMatchObject({
      code: status.UNKNOWN,
      details: expect.stringContaining('is held by') as string,
    });
    await expect(client.call('Exec', {})).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
      details: 'a simulated runtime has no processes to talk to',
    });
    await expect(client.call('CheckpointContainer', {})).rejects.toMatchObject({
      code: status.UNIMPLEMENTED,
      details: 'unknown method CheckpointContainer for service runtime.v1.RuntimeService',
    });
  });

  test('is there for its owner only, and leaves nothing behind', async () => {
    using dir = socketDir();
    const socket = dir.endpoint('own.sock').slice('unix://'.length);
    const serving = await listening(simulatedNode({ seed: 1 }), socket);

    expect(lstatSync(socket).mode & 0o777).toBe(0o600);
    await expect(listening(simulatedNode({ seed: 2 }), socket)).rejects.toThrow(
      `cannot listen on ${socket}: another runtime answers on it`,
    );
    serving.unsubscribe();
    await expect.poll(() => lstatSync(socket, { throwIfNoEntry: false })).toBeUndefined();
    writeFileSync(socket, 'mine');
    await expect(listening(simulatedNode({ seed: 3 }), socket)).rejects.toThrow('something that is not a socket');
    rmSync(socket);
  });
});

async function served(
  options: Partial<Parameters<typeof simulatedNode>[0]> = {},
): Promise<{ readonly node: SimulatedNode; readonly client: PlainClient }> {
  const dir = socketDir();
  const node = simulatedNode({ seed: 1, latencies: QUICK, ...options });
  const endpoint = dir.endpoint('cri.sock');
  await listening(node, endpoint.slice('unix://'.length));
  const client = plainClient(endpoint);
  held.add(() => {
    client[Symbol.dispose]();
    dir[Symbol.dispose]();
  });
  return { node, client };
}

function listening(node: SimulatedNode, socket: string): Promise<Subscription> {
  return new Promise((resolve, reject) => {
    const serving = serveNode(node, socket).subscribe({
      next: () => {
        queueMicrotask(() => {
          resolve(serving);
        });
      },
      error: reject,
    });
    held.add(serving);
  });
}

async function running(
  client: PlainClient,
  config: typeof POD = POD,
): Promise<{ readonly podSandboxId: string; readonly containerId: string }> {
  await client.call('PullImage', { image: { image: 'busybox' } });
  const { podSandboxId = '' } = await client.call('RunPodSandbox', { config });
  const { containerId = '' } = await client.call('CreateContainer', { podSandboxId, config: CONTAINER });
  await client.call('StartContainer', { containerId });
  return { podSandboxId, containerId };
}
