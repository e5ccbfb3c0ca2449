import type { Taint } from '../admission/admission-node.ts';
import { isRecord } from '../schema/check-shape.ts';
import { DEFAULT_KUBELET_CONFIGURATION, type KubeletConfiguration } from './kubelet-configuration.ts';
import { parseDuration } from './parse-duration.ts';

/**
 * A configuration of the right shape, in the form in which rxlet uses it. Defaults are put in once, here, after all
 * layers are merged. As for the kubelet, an empty string, 0 and "0s" count as not said, save where they have a meaning
 * of their own (`resolvConf`, `podPidsLimit`).
 */
export function decodeConfig(wire: Readonly<Record<string, unknown>>): KubeletConfiguration {
  const defaults = DEFAULT_KUBELET_CONFIGURATION;
  const runtime = endpoint(said(text(wire['containerRuntimeEndpoint']))) ?? defaults.containerRuntimeEndpoint;
  const parallel = number(wire['maxParallelImagePulls']);
  const backOff = isRecord(wire['crashLoopBackOff']) ? wire['crashLoopBackOff'] : {};
  const authentication = isRecord(wire['authentication']) ? wire['authentication'] : {};
  const x509 = isRecord(authentication['x509']) ? authentication['x509'] : {};
  const users = isRecord(wire['userNamespaces']) ? wire['userNamespaces'] : {};
  return {
    staticPodPath: text(wire['staticPodPath']) ?? defaults.staticPodPath,
    staticPodURL: text(wire['staticPodURL']) ?? defaults.staticPodURL,
    staticPodURLHeader: headers(wire['staticPodURLHeader']),
    httpCheckFrequency: said(duration(wire['httpCheckFrequency'])) ?? defaults.httpCheckFrequency,
    fileCheckFrequency: said(duration(wire['fileCheckFrequency'])) ?? defaults.fileCheckFrequency,
    syncFrequency: said(duration(wire['syncFrequency'])) ?? defaults.syncFrequency,

    enableServer: flag(wire['enableServer']) ?? defaults.enableServer,
    address: said(text(wire['address'])) ?? defaults.address,
    port: number(wire['port']) ?? defaults.port,
    healthzBindAddress: said(text(wire['healthzBindAddress'])) ?? defaults.healthzBindAddress,
    healthzPort: number(wire['healthzPort']) ?? defaults.healthzPort,
    tlsCertFile: text(wire['tlsCertFile']) ?? defaults.tlsCertFile,
    tlsPrivateKeyFile: text(wire['tlsPrivateKeyFile']) ?? defaults.tlsPrivateKeyFile,
    authentication: { x509: { clientCAFile: text(x509['clientCAFile']) ?? '' } },

    containerRuntimeEndpoint: runtime,
    imageServiceEndpoint: endpoint(said(text(wire['imageServiceEndpoint']))) ?? runtime,
    runtimeRequestTimeout: said(duration(wire['runtimeRequestTimeout'])) ?? defaults.runtimeRequestTimeout,
    serializeImagePulls: flag(wire['serializeImagePulls']) ?? (parallel === undefined ? undefined : parallel < 2),
    maxParallelImagePulls: parallel,
    registryPullQPS: number(wire['registryPullQPS']) ?? defaults.registryPullQPS,
    registryBurst: said(number(wire['registryBurst'])) ?? defaults.registryBurst,

    cgroupDriver: (said(text(wire['cgroupDriver'])) ?? defaults.cgroupDriver) as KubeletConfiguration['cgroupDriver'],
    cgroupRoot: text(wire['cgroupRoot']) ?? defaults.cgroupRoot,
    cgroupsPerQOS: flag(wire['cgroupsPerQOS']) ?? defaults.cgroupsPerQOS,
    cpuCFSQuota: flag(wire['cpuCFSQuota']) ?? defaults.cpuCFSQuota,
    cpuCFSQuotaPeriod: duration(wire['cpuCFSQuotaPeriod']) ?? defaults.cpuCFSQuotaPeriod,
    podPidsLimit: number(wire['podPidsLimit']) ?? defaults.podPidsLimit,

    maxPods: said(number(wire['maxPods'])) ?? defaults.maxPods,
    userNamespaces: { idsPerPod: said(number(users['idsPerPod'])) ?? defaults.userNamespaces.idsPerPod },
    registerWithTaints: taints(wire['registerWithTaints']),
    systemReserved: texts(wire['systemReserved']) ?? defaults.systemReserved,
    kubeReserved: texts(wire['kubeReserved']) ?? defaults.kubeReserved,
    enforceNodeAllocatable: Array.isArray(wire['enforceNodeAllocatable'])
      ? list(wire['enforceNodeAllocatable'])
      : defaults.enforceNodeAllocatable,
    systemReservedCgroup: text(wire['systemReservedCgroup']) ?? defaults.systemReservedCgroup,
    kubeReservedCgroup: text(wire['kubeReservedCgroup']) ?? defaults.kubeReservedCgroup,
    evictionHard: texts(wire['evictionHard']) ?? defaults.evictionHard,
    imageGCHighThresholdPercent: number(wire['imageGCHighThresholdPercent']) ?? defaults.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: number(wire['imageGCLowThresholdPercent']) ?? defaults.imageGCLowThresholdPercent,
    imageMinimumGCAge: said(duration(wire['imageMinimumGCAge'])) ?? defaults.imageMinimumGCAge,
    imageMaximumGCAge: duration(wire['imageMaximumGCAge']) ?? defaults.imageMaximumGCAge,
    localStorageCapacityIsolation:
      flag(wire['localStorageCapacityIsolation']) ?? defaults.localStorageCapacityIsolation,
    seccompDefault: flag(wire['seccompDefault']) ?? defaults.seccompDefault,
    allowedUnsafeSysctls: list(wire['allowedUnsafeSysctls']),
    singleProcessOOMKill: flag(wire['singleProcessOOMKill']),
    podLogsDir: said(text(wire['podLogsDir'])) ?? defaults.podLogsDir,
    containerLogMaxSize: said(text(wire['containerLogMaxSize'])) ?? defaults.containerLogMaxSize,
    containerLogMaxFiles: number(wire['containerLogMaxFiles']) ?? defaults.containerLogMaxFiles,
    containerLogMaxWorkers: number(wire['containerLogMaxWorkers']) ?? defaults.containerLogMaxWorkers,
    containerLogMonitorInterval:
      said(duration(wire['containerLogMonitorInterval'])) ?? defaults.containerLogMonitorInterval,
    resolvConf: text(wire['resolvConf']) ?? defaults.resolvConf,
    clusterDNS: list(wire['clusterDNS']),
    clusterDomain: text(wire['clusterDomain']) ?? defaults.clusterDomain,
    crashLoopBackOff: {
      maxContainerRestartPeriod:
        duration(backOff['maxContainerRestartPeriod']) ?? defaults.crashLoopBackOff.maxContainerRestartPeriod,
    },
    featureGates: gates(wire['featureGates']),
  };
}

function said<T extends string | number>(value: T | undefined): T | undefined {
  return value === '' || value === 0 ? undefined : value;
}

/** The kubelet still takes a bare path for a `unix://` address. */
function endpoint(address: string | undefined): string | undefined {
  return address?.startsWith('/') ? `unix://${address}` : address;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function duration(value: unknown): number | undefined {
  return typeof value === 'string' ? parseDuration(value) : undefined;
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function texts(value: unknown): Readonly<Record<string, string>> | undefined {
  if (!isRecord(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (typeof item === 'string' ? [[name, item]] : [])),
  );
}

function headers(value: unknown): Readonly<Record<string, readonly string[]>> {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.map(([name, values]) => [name, list(values)]));
}

function taints(value: unknown): readonly Taint[] {
  return (Array.isArray(value) ? value : []).filter(isRecord).map((taint) => ({
    key: text(taint['key']) ?? '',
    value: text(taint['value']) ?? '',
    effect: text(taint['effect']) ?? '',
  }));
}

function gates(value: unknown): Readonly<Record<string, boolean>> {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.flatMap(([name, on]) => (typeof on === 'boolean' ? [[name, on]] : [])));
}
