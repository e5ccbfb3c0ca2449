import { podCgroup } from '../model/cgroup.ts';
import { podLabels } from '../model/cri/labels.ts';
import type { NamespaceOption, PodSandboxConfig, PortMapping, Protocol, UserNamespace } from '../model/cri/api.ts';
import { podDns, type DnsConfig } from '../model/dns.ts';
import { kernelName } from '../model/hostname.ts';
import { podLogDir } from '../model/paths.ts';
import type { Container, Pod, PodSpec } from '../model/pod.ts';
import { qosClassOf } from '../model/qos.ts';
import { overheadResources, sandboxResources } from '../model/resources.ts';
import { sandboxSecurity } from '../model/security/sandbox-security.ts';
import { sysctlsOf } from '../model/sysctls.ts';
import type { RuntimeContext } from './context.ts';

/**
 * What `RunPodSandbox` is asked for (facts sheet 10.1). `ofNode` is the node's own resolver configuration; without a
 * user namespace the pod shares the node's users. A host name that is too long for the kernel is left out: whether it is
 * must be asked before.
 */
export function sandboxConfig(
  pod: Pod,
  attempt: number,
  ofNode: DnsConfig,
  context: Pick<RuntimeContext, 'config' | 'facts' | 'rules' | 'paths'>,
  userNamespace?: UserNamespace,
): PodSandboxConfig {
  const { metadata, spec } = pod;
  const { name, namespace, uid } = metadata;
  const hostname = kernelName(pod, context.config.clusterDomain);
  const portMappings = spec.containers.flatMap(portMappingsOf);
  return {
    metadata: { name, namespace, uid, attempt },
    ...(spec.hostNetwork === true || hostname.kind === 'tooLong' ? {} : { hostname: hostname.name }),
    logDirectory: podLogDir(context.paths, metadata),
    dnsConfig: podDns(pod, ofNode, context.config).config,
    ...(portMappings.length === 0 ? {} : { portMappings }),
    labels: { ...metadata.labels, ...podLabels(pod) },
    annotations: metadata.annotations,
    linux: {
      ...cgroupParent(pod, context),
      securityContext: { namespaceOptions: namespaceOptions(spec, userNamespace), ...sandboxSecurity(spec) },
      sysctls: sysctlsOf(spec),
      overhead: overheadResources(spec, context.rules),
      resources: sandboxResources(spec, context.rules),
    },
  };
}

/** Network and IPC are the pod's, processes the container's own, unless the pod asks for other ones (facts sheet 10.3). */
export function namespaceOptions(spec: PodSpec, userNamespace: UserNamespace = { mode: 'NODE' }): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = spec;
  return {
    network: hostNetwork === true ? 'NODE' : 'POD',
    pid: hostPID === true ? 'NODE' : shareProcessNamespace === true ? 'POD' : 'CONTAINER',
    ipc: hostIPC === true ? 'NODE' : 'POD',
    usernsOptions: userNamespace,
  };
}

function cgroupParent(
  { metadata, spec }: Pod,
  { config, facts }: Pick<RuntimeContext, 'config' | 'facts'>,
): { readonly cgroupParent?: string } {
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
