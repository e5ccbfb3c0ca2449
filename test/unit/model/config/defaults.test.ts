import { describe, expect, it } from 'vitest';
import type { KubeletConfiguration } from '../../../../src/model/config/kubelet-configuration.ts';
import { resolveConfig } from '../../../../src/model/config/resolve-config.ts';

describe('a configuration that says nothing', () => {
  const resolved = resolveConfig([]);

  it.each<[rule: string, said: Partial<KubeletConfiguration>]>([
    ['reads no manifests', { staticPodPath: '', staticPodURL: '', staticPodURLHeader: {} }],
    ['looks at files every 20 s', { fileCheckFrequency: 20_000 }],
    ['asks for manifests every 20 s', { httpCheckFrequency: 20_000 }],
    ['syncs every pod once a minute', { syncFrequency: 60_000 }],
    ['tells health on 127.0.0.1:10248', { healthzBindAddress: '127.0.0.1', healthzPort: 10_248 }],
    ['allows servers', { enableServer: true, address: '0.0.0.0' }],
    ['opens no port for other machines', { port: 0 }],
    ['has no certificate of its own and trusts no authority', { tlsCertFile: '', tlsPrivateKeyFile: '' }],
    [
      'finds the runtime, and its images, at the socket of containerd',
      {
        containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
        imageServiceEndpoint: 'unix:///run/containerd/containerd.sock',
      },
    ],
    ['gives calls to the runtime two minutes', { runtimeRequestTimeout: 120_000 }],
    ['pulls five images a second, and ten at once', { registryPullQPS: 5, registryBurst: 10 }],
    ['has cgroups by cgroupfs, one tree for each class of pods', { cgroupDriver: 'cgroupfs', cgroupsPerQOS: true }],
    ['limits cpu in periods of 100 ms', { cpuCFSQuota: true, cpuCFSQuotaPeriod: 100 }],
    ['does not limit the processes of a pod', { podPidsLimit: -1 }],
    ['takes 110 pods', { maxPods: 110 }],
    ['gives pods with users of their own 65536 of them', { userNamespaces: { idsPerPod: 65_536 } }],
    ['has no taints', { registerWithTaints: [] }],
    ['reserves nothing', { systemReserved: {}, kubeReserved: {} }],
    ['enforces what pods may have together', { enforceNodeAllocatable: ['pods'] }],
    [
      'leaves 100 MiB of memory, 10 % and 15 % of the disks, and 5 % of their inodes',
      {
        evictionHard: {
          'memory.available': '100Mi',
          'nodefs.available': '10%',
          'nodefs.inodesFree': '5%',
          'imagefs.available': '15%',
          'imagefs.inodesFree': '5%',
        },
      },
    ],
    [
      'removes images from 85 % of the disk on, down to 80 %',
      { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 },
    ],
    ['spares images for two minutes, and keeps them for ever', { imageMinimumGCAge: 120_000, imageMaximumGCAge: 0 }],
    ['limits local storage', { localStorageCapacityIsolation: true }],
    ['gives no seccomp profile to those who name none', { seccompDefault: false }],
    ['allows no unsafe sysctl', { allowedUnsafeSysctls: [] }],
    ['writes logs below /var/log/pods', { podLogsDir: '/var/log/pods' }],
    ['keeps five files of 10 MiB of a log', { containerLogMaxSize: '10Mi', containerLogMaxFiles: 5 }],
    ['rotates one log at a time, every 10 s', { containerLogMaxWorkers: 1, containerLogMonitorInterval: 10_000 }],
    ['resolves names as the node does', { resolvConf: '/etc/resolv.conf', clusterDNS: [], clusterDomain: '' }],
    [
      'starts a crashing container again after five minutes at most',
      { crashLoopBackOff: { maxContainerRestartPeriod: 300_000 } },
    ],
    ['changes no feature gate', { featureGates: {} }],
  ])('%s', (_rule, said) => {
    expect(resolved.kind === 'resolved' && resolved.config).toMatchObject(said);
  });
});
