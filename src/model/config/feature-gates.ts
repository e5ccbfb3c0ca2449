/** Feature gates of Kubernetes 1.36 that change what a node does, by what they are unless somebody sets them. */
const ON = `
  CPUManagerPolicyBetaOptions ContainerCheckpoint ContainerRestartRules DRAConsumableCapacity DRAExtendedResource
  EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HostnameOverride
  ImageMaximumGCAge ImageVolume InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScaling
  InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
  KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesGet KubeletSeparateDiskGC NodeDeclaredFeatures NodeLogQuery
  NodeSwap PLEGOnDemandRelist PodLevelResources PodLifecycleSleepAction PodReadyToStartContainersCondition
  PreventStaticPodAPIReferences RecoverVolumeExpansionFailure RecursiveReadOnlyMounts ReloadKubeletClientCAFile
  ReloadKubeletServerCertificateFile ResourceHealthStatus ResourceHealthStatusMessage
  RestartAllContainersOnContainerExits RotateKubeletServerCertificate SELinuxChangePolicy SELinuxMountReadWriteOncePod
  SidecarContainers SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyBetaOptions
  TopologyManagerPolicyOptions UserNamespacesSupport`;
const OFF = `
  CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ChangeContainerStatusOnKubeletRestart
  ClusterTrustBundleProjection ContainerStopSignals CustomCPUCFSQuotaPeriod EventedPLEG GitRepoVolumeDriver
  ImageVolumeWithDigest KubeletInUserNamespace LocalStorageCapacityIsolationFSQuotaMonitoring MemoryQoS
  PodAndContainerStatsFromCRI PodCertificateRequest PodLogsQuerySplitStreams PodsAPI QOSReserved
  ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriAPI SELinuxMount TopologyManagerPolicyAlphaOptions`;

const GATES: ReadonlyMap<string, boolean> = new Map([...gates(ON, true), ...gates(OFF, false)]);

/** One sentence per kind of gate that changes nothing here; gates set to what they are anyway need none. */
export function warnAboutGates(featureGates: Readonly<Record<string, boolean>>): readonly string[] {
  const set = Object.entries(featureGates);
  const unknown = set.filter(([name]) => !GATES.has(name));
  const ignored = set.filter(([name, on]) => GATES.has(name) && GATES.get(name) !== on);
  return [
    ...(unknown.length ? [`feature gates that rxlet does not know are ignored: ${listOf(unknown)}`] : []),
    ...(ignored.length ? [`feature gates that rxlet does not follow yet are ignored: ${listOf(ignored)}`] : []),
  ];
}

function gates(names: string, on: boolean): readonly (readonly [string, boolean])[] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => [name, on]);
}

function listOf(entries: readonly (readonly [string, boolean])[]): string {
  return entries
    .map(([name, on]) => `${name}=${String(on)}`)
    .sort()
    .join(', ');
}
