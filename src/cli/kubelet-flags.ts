import { InvalidArgumentError, Option } from 'commander';
import type { ConfigLayer } from '../model/config/config-layer.ts';

/** A flag of the kubelet that sets one field of its configuration. */
export interface KubeletFlag {
  readonly option: Option;
  /** A `KubeletConfiguration` that holds only what the flag says. */
  readonly patch: (value: unknown) => unknown;
}

/** The kubelet's own names for the fields that rxlet uses. */
export function kubeletFlags(): readonly KubeletFlag[] {
  return [
    flag('--pod-manifest-path <path>', 'staticPodPath', 'folder (or file) with pod manifests'),
    flag('--container-runtime-endpoint <url>', 'containerRuntimeEndpoint', 'unix socket of the runtime'),
    flag('--image-service-endpoint <url>', 'imageServiceEndpoint', 'unix socket for images, if another'),
    flag('--manifest-url <url>', 'staticPodURL', 'URL of pod manifests; may be given several times', several),
    flag('--manifest-url-header <headers>', 'staticPodURLHeader', 'said with every request: a:x,b:y', headers),
    flag('--http-check-frequency <time>', 'httpCheckFrequency', 'how often URLs are asked again (default: 20s)'),
    flag('--file-check-frequency <time>', 'fileCheckFrequency', 'how often manifests are read again (default: 20s)'),
    flag('--sync-frequency <time>', 'syncFrequency', 'how often every pod is checked (default: 1m)'),
    flag('--runtime-request-timeout <time>', 'runtimeRequestTimeout', 'deadline of a runtime call (default: 2m)'),
    flag('--healthz-bind-address <ip>', 'healthzBindAddress', 'where to serve /healthz (default: 127.0.0.1)'),
    flag('--healthz-port <port>', 'healthzPort', 'its port, 0: none (default: 10248)', whole),
    flag('--address <ip>', 'address', 'where to serve the API over TLS (default: 0.0.0.0)'),
    flag('--port <port>', 'port', 'its port, the kubelet has 10250 (default: 0, none)', whole),
    flag('--tls-cert-file <file>', 'tlsCertFile', 'certificate of the server (default: its own)'),
    flag('--tls-private-key-file <file>', 'tlsPrivateKeyFile', 'key of that certificate'),
    nested(
      '--client-ca-file <file>',
      ['authentication', 'x509', 'clientCAFile'],
      'who signs clients (default: its own)',
    ),
    flag('--max-pods <count>', 'maxPods', 'pods this node may run (default: 110)', whole),
    flag('--pod-max-pids <count>', 'podPidsLimit', 'processes a pod may have, -1: no limit', whole),
    flag('--cgroup-driver <driver>', 'cgroupDriver', 'cgroupfs or systemd, if the runtime does not say'),
    flag('--cgroup-root <path>', 'cgroupRoot', 'cgroup that holds those of the pods'),
    flag('--cgroups-per-qos [bool]', 'cgroupsPerQOS', 'a cgroup per quality of service (default: true)', boolean),
    flag('--cpu-cfs-quota [bool]', 'cpuCFSQuota', 'enforce CPU limits (default: true)', boolean),
    flag('--cpu-cfs-quota-period <time>', 'cpuCFSQuotaPeriod', 'period of CPU limits'),
    flag('--serialize-image-pulls [bool]', 'serializeImagePulls', 'pull one image at a time (default: true)', boolean),
    flag('--registry-qps <count>', 'registryPullQPS', 'pulls per second, 0: no limit (default: 5)', whole),
    flag('--registry-burst <count>', 'registryBurst', 'pulls that may begin at once (default: 10)', whole),
    flag(
      '--image-gc-high-threshold <percent>',
      'imageGCHighThresholdPercent',
      'when images make room, 100: never (default: 85)',
      whole,
    ),
    flag('--image-gc-low-threshold <percent>', 'imageGCLowThresholdPercent', 'down to which (default: 80)', whole),
    flag('--minimum-image-ttl-duration <time>', 'imageMinimumGCAge', 'how long an image stays at least (default: 2m)'),
    flag('--register-with-taints <taints>', 'registerWithTaints', 'taints of the node: key=value:effect,...', taints),
    flag('--system-reserved <amounts>', 'systemReserved', 'kept from pods: cpu=500m,memory=1Gi', amounts),
    flag('--kube-reserved <amounts>', 'kubeReserved', 'kept from pods: cpu=500m,memory=1Gi', amounts),
    flag('--enforce-node-allocatable <keys>', 'enforceNodeAllocatable', 'pods, system-reserved, kube-reserved', listed),
    flag('--seccomp-default [bool]', 'seccompDefault', 'confine containers that ask for no profile', boolean),
    flag(
      '--allowed-unsafe-sysctls <names>',
      'allowedUnsafeSysctls',
      'sysctls that pods may set: kernel.msg*,...',
      listed,
    ),
    flag('--container-log-max-size <amount>', 'containerLogMaxSize', 'when a log is rotated (default: 10Mi)'),
    flag('--container-log-max-files <count>', 'containerLogMaxFiles', 'files of a log (default: 5)', whole),
    flag('--resolv-conf <file>', 'resolvConf', 'resolver file that pods inherit'),
    flag('--cluster-dns <ips>', 'clusterDNS', 'name servers of pods, separated by commas', listed),
    flag('--cluster-domain <domain>', 'clusterDomain', 'DNS domain of the cluster'),
    flag('--feature-gates <list>', 'featureGates', 'A=true,B=false', gates),
  ];
}

/** What a flag on the command line says about the configuration. */
export function flagLayer({ option, patch }: KubeletFlag, value: unknown): ConfigLayer {
  return { kind: 'flag', origin: option.long ?? option.flags, value: patch(value), locate: () => undefined };
}

function flag(
  flags: string,
  field: string,
  description: string,
  parse?: (text: string, previous: unknown) => unknown,
): KubeletFlag {
  const option = new Option(flags, description).helpGroup(GROUP);
  return { option: parse ? option.argParser(parse) : option, patch: (value) => ({ [field]: value }) };
}

function nested(flags: string, path: readonly string[], description: string): KubeletFlag {
  const option = new Option(flags, description).helpGroup(GROUP);
  return { option, patch: (value) => path.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value) };
}

const GROUP = "Fields of the configuration file, as the kubelet's flags:";

function whole(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function boolean(text: string): boolean {
  const value = BOOLEANS[text.toLowerCase()];
  if (value === undefined) throw new InvalidArgumentError('It must be true or false.');
  return value;
}

/** What Go's strconv.ParseBool takes. */
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, t: true, 1: true, false: false, f: false, 0: false };

function listed(text: string, previous: unknown): readonly unknown[] {
  return [...(Array.isArray(previous) ? (previous as unknown[]) : []), ...text.split(',').map((item) => item.trim())];
}

function several(text: string, previous: unknown): string {
  return typeof previous === 'string' ? `${previous} ${text}` : text;
}

function headers(text: string, previous: unknown): unknown {
  const merged = new Map(Object.entries((previous ?? {}) as Readonly<Record<string, readonly string[]>>));
  for (const pair of text.split(',')) {
    const { name, value } = /^\s*(?<name>[^:]+?)\s*:(?<value>.*)$/.exec(pair)?.groups ?? {};
    if (name === undefined || value === undefined) throw new InvalidArgumentError('It must look like name:value,...');
    merged.set(name, [...(merged.get(name) ?? []), value.trim()]);
  }
  return Object.fromEntries(merged);
}

function amounts(text: string, previous: unknown): unknown {
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  return Object.assign(
    {},
    previous,
    ...pairs.map(([name = '', value]) => {
      if (name === '' || value === undefined) throw new InvalidArgumentError('It must look like cpu=500m,memory=1Gi.');
      return { [name]: value };
    }),
  ) as unknown;
}

function taints(text: string, previous: unknown): readonly unknown[] {
  const added = text.split(',').map((taint) => {
    const { key, value, effect } =
      /^(?<key>[^=:]+)(?:=(?<value>[^:]*))?:(?<effect>\w+)$/.exec(taint.trim())?.groups ?? {};
    if (key === undefined || effect === undefined)
      throw new InvalidArgumentError('It must look like key=value:effect.');
    return { key, effect, ...(value === undefined ? {} : { value }) };
  });
  return [...(Array.isArray(previous) ? (previous as unknown[]) : []), ...added];
}

function gates(text: string, previous: unknown): unknown {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.assign(
    {},
    previous,
    ...pairs.map((pair) => {
      const [name = '', value] = pair.split('=').map((part) => part.trim());
      if (name === '' || value === undefined) throw new InvalidArgumentError('It must look like A=true,B=false.');
      return { [name]: boolean(value) };
    }),
  ) as unknown;
}
