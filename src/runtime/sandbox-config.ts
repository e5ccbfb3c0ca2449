import { podCgroup } from '../model/cgroup.ts';
import { podLabels } from '../model/cri/labels.ts';
import type { NamespaceOption, PodSandboxConfig, PortMapping, Protocol } from '../model/cri/api.ts';
import { dnsConfigOf, type DnsConfig } from '../model/dns.ts';
import { hostnameOf } from '../model/hostname.ts';
import { podLogDir } from '../model/paths.ts';
import type { Container, Pod, PodSpec } from '../model/pod.ts';
import { qosClassOf } from '../model/qos.ts';
import { sandboxResources } from '../model/resources.ts';
import type { RuntimeContext } from './context.ts';

/** What `RunPodSandbox` is asked for (facts sheet 10.1). `ofNode` is the node's own resolver configuration. */
export function sandboxConfig(pod: Pod, attempt: number, ofNode: DnsConfig, context: RuntimeContext): PodSandboxConfig {
  const { metadata, spec } = pod;
  const { name, namespace, uid } = metadata;
  const hostNetwork = spec.hostNetwork === true;
  const portMappings = spec.containers.flatMap(portMappingsOf);
  return {
    metadata: { name, namespace, uid, attempt },
    ...(hostNetwork ? {} : { hostname: hostnameOf(name, spec.hostname) }),
    logDirectory: podLogDir(context.paths, metadata),
    dnsConfig: dnsConfigOf(spec.dnsPolicy, hostNetwork, namespace, ofNode, context.config),
    ...(portMappings.length === 0 ? {} : { portMappings }),
    labels: { ...metadata.labels, ...podLabels(pod) },
    annotations: metadata.annotations,
    linux: {
      ...cgroupParent(pod, context),
      securityContext: { namespaceOptions: namespaceOptions(spec), seccomp: { profileType: 'RuntimeDefault' } },
      overhead: {},
      resources: sandboxResources(spec, context.rules),
    },
  };
}

/** Network and IPC are the pod's, processes the container's own, unless the pod asks for the node's (facts sheet 10.3). */
export function namespaceOptions({ hostNetwork, hostPID, hostIPC }: PodSpec): NamespaceOption {
  return {
    network: hostNetwork === true ? 'NODE' : 'POD',
    pid: hostPID === true ? 'NODE' : 'CONTAINER',
    ipc: hostIPC === true ? 'NODE' : 'POD',
    usernsOptions: { mode: 'NODE' },
  };
}

function cgroupParent({ metadata, spec }: Pod, { config, facts }: RuntimeContext): { readonly cgroupParent?: string } {
  if (!config.cgroupsPerQOS)
    return config.cgroupRoot === '' || config.cgroupRoot === '/' ? {} : { cgroupParent: config.cgroupRoot };
  return { cgroupParent: podCgroup(config.cgroupRoot, facts.cgroupDriver, qosClassOf(spec), metadata.uid) };
}

/** Ports with and without a host port alike; within one container the same mapping goes out once. */
function portMappingsOf({ ports }: Container): readonly PortMapping[] {
  const seen = new Set<string>();
  return (ports ?? []).flatMap(({ name, protocol, hostIP, containerPort, hostPort }) => {
    const key =
      name !== undefined && name !== ''
        ? name
        : `${protocol ?? 'TCP'}-${hostIP ?? ''}:${containerPort}:${hostPort ?? 0}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return [
      {
        protocol: criProtocol(protocol),
        containerPort,
        hostPort: hostPort ?? 0,
        hostIp: hostIP ?? '',
      },
    ];
  });
}

function criProtocol(protocol: string | undefined): Protocol {
  return protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP';
}
