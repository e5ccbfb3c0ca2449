import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseExposition } from '../parse-exposition.ts';
import { HOST } from './harness/runtime-look.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const curl = promisify(execFile);

interface Used {
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds: number;
  readonly workingSetBytes: number;
}
interface Summary {
  readonly node: { readonly nodeName: string; readonly cpu: Used; readonly memory: Used; readonly fs: unknown };
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
    readonly cpu: Used;
    readonly memory: Used;
    readonly containers: readonly { readonly name: string; readonly cpu: Used; readonly memory: Used }[];
  }[];
}

function get(socketPath: string, path: string): Promise<string> {
  return new Promise((done, fail) => {
    const call = request({ socketPath, path, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        if (response.statusCode === 200) done(body);
        else fail(new Error(`${path}: ${response.statusCode ?? 0} ${body}`));
      });
    });
    call.on('error', fail);
    call.end();
  });
}

/** A port that nobody listens on, or did until just now. */
function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        done(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}

describe('the endpoints of a node with a busy pod and an idle one', () => {
  test('tell what each of them uses, and what the agent does', async () => {
    const node = await testNode();
    const [port, healthPort] = [await freePort(), await freePort()];
    await node.start('--address', '127.0.0.1', '--port', String(port), '--healthz-port', String(healthPort));
    node.dropManifest('busy.yaml', podYaml({ name: 'busy', run: 'while :; do :; done' }));
    node.dropManifest('idle.yaml', podYaml({ name: 'idle', run: OBEDIENT }));
    await Promise.all(['busy', 'idle'].map((name) => node.whenRunning(name)));

    const summary = await until('both pods to be told, the busy one as busy', async () => {
      const told = JSON.parse(await get(node.paths.socket, '/stats/summary')) as Summary;
      const busy = told.pods.find(({ podRef }) => podRef.name === `busy-${HOST}`);
      const spent = busy?.containers[0]?.cpu;
      const isBusy = spent !== undefined && spent.usageCoreNanoSeconds > 5e8 && (spent.usageNanoCores ?? 0) > 1e7;
      return isBusy && told.pods.filter(({ containers }) => containers.length === 1).length === 2 && told;
    });
    const [busy, idle] = ['busy', 'idle'].map((name) =>
      summary.pods.find(({ podRef }) => podRef.name === `${name}-${HOST}`),
    );
    expect(summary.node).toMatchObject({ nodeName: HOST, fs: { capacityBytes: expect.any(Number) as number } });
    expect(busy?.podRef.uid).toBe((await node.pod('busy'))?.metadata.uid);
    expect(busy?.cpu.usageCoreNanoSeconds).toBeGreaterThan(5e8);
    expect(idle?.containers[0]?.cpu.usageCoreNanoSeconds).toBeLessThan(5e8);
    for (const pod of [busy, idle]) {
      expect(pod?.memory.workingSetBytes).toBeGreaterThan(0);
      expect(pod?.containers[0]?.memory.workingSetBytes).toBeGreaterThan(0);
      expect(pod?.containers[0]?.memory.workingSetBytes).toBeLessThan(summary.node.memory.workingSetBytes);
    }
    expect(summary.node.cpu.usageCoreNanoSeconds).toBeGreaterThan(busy?.cpu.usageCoreNanoSeconds ?? Infinity);

    const resource = parseExposition(await get(node.paths.socket, '/metrics/resource'));
    const cpu = (pod: string): number =>
      resource
        .get('container_cpu_usage_seconds_total')
        ?.samples.find(({ labels }) => labels['pod'] === `${pod}-${HOST}`)?.value ?? NaN;
    expect(cpu('busy')).toBeGreaterThan(0.5);
    expect(cpu('idle')).toBeLessThan(0.5);
    expect(resource.get('scrape_error')?.samples[0]?.value).toBe(0);
    expect(resource.get('pod_cpu_usage_seconds_total')?.samples).toHaveLength(2);
    const started = resource.get('container_start_time_seconds')?.samples ?? [];
    expect(started.every(({ value }) => Math.abs(value - Date.now() / 1_000) < 300)).toBe(true);

    const cadvisor = parseExposition(await get(node.paths.socket, '/metrics/cadvisor'));
    const ofBusy = (name: string, container: string): number =>
      cadvisor
        .get(name)
        ?.samples.find(({ labels }) => labels['pod'] === `busy-${HOST}` && labels['container'] === container)?.value ??
      NaN;
    expect(ofBusy('container_cpu_usage_seconds_total', 'main')).toBeGreaterThan(0.5);
    expect(ofBusy('container_memory_working_set_bytes', 'main')).toBeGreaterThan(0);
    expect(ofBusy('container_cpu_usage_seconds_total', '')).toBeGreaterThan(0.5);
    expect(cadvisor.get('container_scrape_error')?.samples[0]?.value).toBe(0);

    const metrics = parseExposition(await get(node.paths.socket, '/metrics'));
    const value = (name: string, label = ''): number | undefined =>
      metrics.get(name)?.samples.find(({ labels }) => label === '' || Object.values(labels).includes(label))?.value;
    expect(value('kubelet_running_pods')).toBe(2);
    expect(value('kubelet_running_containers', 'running')).toBe(2);
    expect(value('kubelet_started_pods_total')).toBe(2);
    expect(value('kubelet_started_containers_total', 'container')).toBe(2);
    expect(value('kubelet_runtime_operations_total', 'create_container')).toBe(2);
    expect(value('kubelet_pod_start_duration_seconds')).toBeDefined();
    expect(value('kubelet_http_requests_total', 'stats/summary')).toBeGreaterThan(0);
    expect(value('kubelet_cgroup_version')).toBeGreaterThan(0);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e7);

    const running = JSON.parse(await get(node.paths.socket, '/runningpods/')) as { readonly items: readonly unknown[] };
    expect(running.items).toHaveLength(2);

    // The same from outside: health for anybody here, the rest with a certificate only.
    expect((await curl('curl', ['-sS', `http://127.0.0.1:${healthPort}/readyz?verbose`])).stdout).toContain(
      '[+]runtime ok\nreadyz check passed',
    );
    const pki = join(node.paths.root, 'pki');
    const api = ['-sS', '--cacert', join(pki, 'ca.crt'), `https://localhost:${port}/runningpods/`];
    const who = ['--cert', join(pki, 'client.crt'), '--key', join(pki, 'client.key')];
    expect(JSON.parse((await curl('curl', [...who, ...api])).stdout)).toEqual(running);
    await expect(curl('curl', api)).rejects.toThrow(/certificate required|alert|SSL|reset|closed/i);
    expect(statSync(join(pki, 'kubelet.key')).mode & 0o777).toBe(0o600);
    expect(node.log()).not.toContain(readFileSync(join(pki, 'kubelet.key'), 'utf8').split('\n')[1]);
  });
});
