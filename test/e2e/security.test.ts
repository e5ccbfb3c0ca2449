import { describe, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PodSpec } from '../../src/model/pod.ts';
import { podJson, shell, type PodDraft } from './harness/pod-json.ts';
import { HOST } from './harness/runtime-look.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const FOREVER = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";
const node = sharedNode('--allowed-unsafe-sysctls=net.core.somaxconn');

type Container = PodSpec['containers'][number];

/** Runs shell text in a pod's container, and resolves to what that printed once it has said that it is done. */
async function saidBy(name: string, run: string, container: Partial<Container> = {}, spec: Partial<PodDraft> = {}) {
  const pod = { name, terminationGracePeriodSeconds: 1, ...spec };
  node().dropManifest(
    `${name}.yaml`,
    podJson({ ...pod, containers: [shell('main', `${run}; echo DONE; ${FOREVER}`, container)] }),
  );
  return logOf(name);
}

async function logOf(name: string): Promise<readonly string[]> {
  return until(`${name} to have said all`, async () => {
    const pod = await node().pod(name);
    const uid = pod?.metadata.uid ?? '';
    const log = join('/var/log/pods', `default_${name}-${HOST}_${uid}`, 'main/0.log');
    const lines = readIfThere(log).map((line) => line.replace(/^\S+ \S+ F /, ''));
    return lines.includes('DONE') && lines.slice(0, lines.indexOf('DONE'));
  });
}

function readIfThere(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** The reason and the message with which the container `main` of a pod waits. */
async function waitingOf(name: string): Promise<unknown> {
  return until(`${name} to wait`, async () => {
    const { reason, message } = (await node().pod(name))?.status.containerStatuses?.[0]?.state?.waiting ?? {};
    return reason !== undefined && reason !== 'ContainerCreating' && { reason, message };
  });
}

const hasBit = (hex: string | undefined, bit: number): boolean =>
  ((BigInt(`0x${hex ?? '0'}`) >> BigInt(bit)) & 1n) === 1n;
const NET_RAW = 13;
const SYS_TIME = 25;
const CHOWN = 0;

describe.concurrent('what the process of a container sees', () => {
  test('is the user, the group and the further groups that its pod names', async () => {
    const securityContext = { runAsUser: 1_001, runAsGroup: 1_002, fsGroup: 40, supplementalGroups: [50] };
    const [uid, gid, groups = ''] = await saidBy('ids', 'id -u; id -g; id -G', {}, { securityContext });
    expect([uid, gid, groups.split(' ').sort()]).toEqual(['1001', '1002', ['1002', '40', '50']]);
  });

  test('is no capability beyond those that its container asks for', async () => {
    const capabilities = { add: ['NET_RAW', 'SYS_TIME'], drop: ['CHOWN'] };
    const [effective] = await saidBy('caps', "awk '/CapEff/ {print $2}' /proc/self/status", {
      securityContext: { capabilities },
    });
    expect([NET_RAW, SYS_TIME, CHOWN].map((bit) => hasBit(effective, bit))).toEqual([true, true, false]);
  });

  test('is that it can gain no privileges, write no root, and is filtered', async () => {
    const securityContext = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      seccompProfile: { type: 'RuntimeDefault' },
    };
    const said = await saidBy(
      'tight',
      "awk '/NoNewPrivs|Seccomp:/ {print $2}' /proc/self/status; touch /x 2>/dev/null || echo read-only",
      { securityContext },
    );
    expect(said).toEqual(['1', '2', 'read-only']);
  });

  test('is nothing of that where it is privileged', async () => {
    const said = await saidBy(
      'privileged',
      "awk '/NoNewPrivs|Seccomp:/ {print $2}' /proc/self/status; touch /x && echo writable; ls /dev | grep -c .",
      { securityContext: { privileged: true } },
    );
    expect(said.slice(0, 3)).toEqual(['0', '0', 'writable']);
    expect(Number(said[3])).toBeGreaterThan(15);
  });

  test('is the sysctls of its pod', async () => {
    const sysctls = [
      { name: 'kernel.shm_rmid_forced', value: '1' },
      { name: 'net/ipv4/ip_local_port_range', value: '2000 3000' },
    ];
    const [forced, ports] = await saidBy(
      'sysctls',
      'cat /proc/sys/kernel/shm_rmid_forced /proc/sys/net/ipv4/ip_local_port_range',
      {},
      { securityContext: { sysctls } },
    );
    expect([forced, ports?.split(/\s+/)]).toEqual(['1', ['2000', '3000']]);
  });

  test("is its neighbours' processes where the pod shares them", async () => {
    // The shell is the parent of what it runs; alone it is the first of all processes.
    const parent = "awk '/^PPid/ {print $2}' /proc/self/status";
    const [alone] = await saidBy('alone', parent);
    const [shared] = await saidBy('shared', parent, {}, { shareProcessNamespace: true });
    expect(alone).toBe('1');
    expect(Number(shared)).toBeGreaterThan(1);
  });

  test('is the limits of its container in its cgroup', async () => {
    const resources = { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } };
    const [bytes, score] = await saidBy(
      'limits',
      'cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null; cat /proc/self/oom_score_adj',
      { resources },
    );
    expect(bytes).toBe('67108864');
    expect(Number(score)).toBeGreaterThan(900);
  });
});

describe.concurrent('what a container learns of its pod', () => {
  test('is its name, its address, its limits, and what an init container wrote', async () => {
    const env = [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
      { name: 'SAID', valueFrom: { fileKeyRef: { path: 'vars.env', volumeName: 'box', key: 'GREETING' } } },
      { name: 'ALL', value: '$(NAME)/$(SAID)' },
    ];
    const box = [{ name: 'box', mountPath: '/box' }];
    const draft = podJson({
      name: 'env',
      terminationGracePeriodSeconds: 1,
      initContainers: [shell('init', "echo GREETING=\\'hello there\\' > /box/vars.env", { volumeMounts: box })],
      containers: [
        shell('main', `echo "$ALL"; echo "$CPUS"; echo "$IP"; hostname -i; echo DONE; ${FOREVER}`, {
          env,
          resources: { limits: { cpu: '250m' } },
        }),
      ],
    });
    const manifest = JSON.parse(draft) as { readonly spec: object };
    const spec = { ...manifest.spec, volumes: [{ name: 'box', emptyDir: {} }] };
    node().dropManifest('env.yaml', JSON.stringify({ ...manifest, spec }));

    const [all, cpus, ip, ownIp] = await logOf('env');
    expect([all, cpus]).toEqual([`env-${HOST}/hello there`, '250']);
    expect(ip).toBe(ownIp);
  });

  test('is its host name, its domain and its aliases', async () => {
    const said = await saidBy(
      'names',
      'hostname; grep -v "^#" /etc/hosts | tail -n 4; cat /etc/resolv.conf',
      {},
      {
        hostname: 'chosen',
        subdomain: 'sub',
        hostAliases: [{ ip: '203.0.113.5', hostnames: ['one.test', 'two.test'] }],
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['198.51.100.53'], searches: ['my.test'], options: [{ name: 'ndots', value: '3' }] },
      },
    );
    expect(said[0]).toBe('chosen');
    expect(said.find((line) => line.includes('chosen.sub'))).toMatch(/^[\d.]+\tchosen\.sub\.default\.svc\.\tchosen$/);
    expect(said).toContain('203.0.113.5\tone.test\ttwo.test');
    expect(said).toEqual(expect.arrayContaining(['search my.test', 'nameserver 198.51.100.53', 'options ndots:3']));
  });
});

describe.concurrent('a container that must not be started', () => {
  test('waits and says why: it would be root', async () => {
    node().dropManifest(
      'root.yaml',
      podJson({ name: 'root', securityContext: { runAsNonRoot: true }, containers: [shell('main', FOREVER)] }),
    );
    expect(await waitingOf('root')).toMatchObject({
      reason: 'CreateContainerConfigError',
      message: expect.stringContaining('container has runAsNonRoot and image will run as root') as unknown,
    });
  });

  test('waits and says why: the file with its variables is not there', async () => {
    const env = [{ name: 'X', valueFrom: { fileKeyRef: { path: 'no.env', volumeName: 'box', key: 'X' } } }];
    const manifest = JSON.parse(podJson({ name: 'nofile', containers: [shell('main', FOREVER, { env })] })) as {
      readonly spec: object;
    };
    const spec = { ...manifest.spec, volumes: [{ name: 'box', emptyDir: {} }] };
    node().dropManifest('nofile.yaml', JSON.stringify({ ...manifest, spec }));
    expect(await waitingOf('nofile')).toEqual({
      reason: 'CreateContainerConfigError',
      message: "couldn't parse env file",
    });
  });
});
