import { combineLatest, concat, defer, ignoreElements, map, switchMap, type Observable } from 'rxjs';
import type { AdmissionNode } from '../model/admission/admission-node.ts';
import { allocatable } from '../model/admission/allocatable.ts';
import { nodeLabels } from '../model/admission/node-labels.ts';
import { podCgroup, qosCgroup, type CgroupDriver } from '../model/cgroup.ts';
import { kubepodsLimits, reservedLimits } from '../model/cgroup-limits.ts';
import { parallelPulls } from '../model/images/parallel-pulls.ts';
import type { RunConfig } from '../model/config/run-config.ts';
import type { NodeFacts } from '../model/node-facts.ts';
import type { NodePaths } from '../model/paths.ts';
import type { PodUid } from '../model/pod.ts';
import { qosClassOf } from '../model/qos.ts';
import { nodeCgroups } from '../host/cgroups/node-cgroups.ts';
import { systemdCgroups } from '../host/cgroups/systemd-cgroups.ts';
import { nodeHttp } from '../host/http/node-http.ts';
import { machine, type Machine } from '../host/machine/machine.ts';
import { nodeMounts } from '../host/mounts/node-mounts.ts';
import { nodeUsage } from '../host/usage/node-usage.ts';
import { nodeVolumeFiles } from '../host/volumes/node-volume-files.ts';
import { connectCri } from '../runtime/cri/connect-cri.ts';
import { meterCalls } from '../runtime/cri/meter-calls.ts';
import { containerdTaskHints } from '../runtime/cri/events-containerd.ts';
import { imageService } from '../runtime/images/image-service.ts';
import { meterImages } from '../runtime/images/meter-images.ts';
import { localUsage } from '../runtime/local-usage.ts';
import { observer, type Observer } from '../runtime/observe.ts';
import type { PerformContext } from '../runtime/perform-plan.ts';
import { probeExecutor } from '../runtime/probes/probe-executor.ts';
import { runtimeFacts, type RuntimeFacts } from '../runtime/runtime-facts.ts';
import { runtimeFeatures, type RuntimeFeatures } from '../runtime/runtime-features.ts';
import { deleteContainerdTask } from '../runtime/cri/task-delete-containerd.ts';
import { runtimeHints } from '../runtime/runtime-hints.ts';
import { userNamespaces } from '../runtime/user-namespaces.ts';
import type { StatsPorts } from '../server/stats/collect.ts';
import { revisions } from '../streams/pleg/revisions.ts';
import type { ProbePorts } from '../streams/probes/probe.ts';
import type { CgroupLayout } from '../streams/cgroups/keep-cgroups.ts';
import type { CgroupLimits } from '../streams/ports/cgroups.ts';
import type { Credentials } from '../streams/ports/credentials.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Files } from '../streams/ports/files.ts';
import type { LocalUsage } from '../streams/ports/local-usage.ts';
import type { Meter } from '../streams/ports/meter.ts';
import type { Tracer } from '../streams/ports/tracer.ts';
import type { Checkpoint, CheckpointStore } from '../streams/checkpoints/checkpoints.ts';
import type { World } from '../streams/agent.ts';
import { logRotation } from './log-rotation.ts';
import { registryCredentials } from './registry-credentials.ts';
import { checkpointStore } from './checkpoint-store.ts';

/** The world outside, ready for the agent: a runtime that has answered, a disk that has the folders. */
export interface Edges {
  /** All but the objects, which come from the sources. */
  readonly context: Omit<PerformContext, 'objects$'>;
  readonly observer: Observer;
  readonly probe: ProbePorts['probe'];
  readonly hint$: Observable<PodUid>;
  readonly listening$: Observable<boolean>;
  readonly hostIps: readonly string[];
  /** By what pods are judged before they begin; absent where every pod is taken. */
  readonly admission?: AdmissionNode;
  /** The cgroups above those of the pods; absent where they are left to the runtime. */
  readonly cgroupLayout?: CgroupLayout;
  readonly checkpoints: CheckpointStore;
  /** Absent where logs are not rotated. */
  readonly rotation?: World['rotation'];
  /** Absent where nobody is evicted for what it takes of the disk. */
  readonly localUsage?: LocalUsage;
  /** What an earlier run of the agent kept of the pods. */
  readonly kept: readonly Checkpoint[];
  /** Hears what the agent does and how long that takes. */
  readonly meter: Meter;
  /** Hears what it hears, decides and does. */
  readonly trace: Tracer;
}

/** The same, and what only those who look in from outside need. */
export interface NodeEdges extends Edges {
  readonly stats: StatsPorts;
}

export interface ConnectPorts {
  readonly files: Files;
  readonly onWait: (why: string) => void;
  /** Hears what is wrong and does not keep the agent from its work. */
  readonly onProblem: (problem: string) => void;
  readonly meter: Meter;
  readonly trace: Tracer;
}

const CONTAINER_LINKS = '/var/log/containers';
const FIRST_BACKOFF = 10_000;
const RETRY_PERIOD = 10_000;

/**
 * Opens the channel to the runtime and finds out what the machine is like. Emits once, as soon as the runtime has
 * answered, and holds the channel until unsubscribed. Errors where the folders cannot be made or the CRI is not v1.
 */
export function connect(
  run: RunConfig,
  { files, onWait, onProblem, meter, trace }: ConnectPorts,
): Observable<NodeEdges> {
  const { config } = run;
  const paths: NodePaths = { rootDir: run.rootDir, podLogsDir: config.podLogsDir, containerLinksDir: CONTAINER_LINKS };
  const cri$ = connectCri({
    runtimeEndpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    requestTimeout: config.runtimeRequestTimeout,
  });
  const metered$ = cri$.pipe(map((cri) => meterCalls(cri, meter)));
  const store = checkpointStore(`${run.rootDir}/state`, files);
  return metered$.pipe(
    switchMap((cri) =>
      combineLatest([
        runtimeFacts(cri, config.cgroupDriver, onWait),
        machine(run.rootDir),
        runtimeFeatures(cri),
        registryCredentials(run, files, onProblem),
        concat(makeFolders(paths, files), store.load()),
      ]).pipe(
        map(([runtime, hardware, features, credentials, kept]) => ({
          ...edges(
            run,
            paths,
            nodeFacts(run, hardware, { ...runtime, recursiveReadOnly: features.recursiveReadOnly }),
            cri,
            { files, credentials, meter, trace },
          ),
          hostIps: hostIpsOf(run, hardware),
          ...(config.cgroupsPerQOS ? { cgroupLayout: cgroupLayout(run, hardware, runtime.cgroupDriver) } : {}),
          admission: admissionNode(run, hardware, features),
          checkpoints: store,
          ...logRotation(config, paths, cri),
          ...(config.localStorageCapacityIsolation
            ? { localUsage: localUsage({ cri, usage: nodeUsage(), files: nodeVolumeFiles(), rootDir: run.rootDir }) }
            : {}),
          kept,
          stats: {
            cri,
            usage: nodeUsage(),
            paths,
            ...(config.cgroupsPerQOS ? { cgroups: podCgroups(config.cgroupRoot, runtime.cgroupDriver) } : {}),
          },
        })),
      ),
    ),
  );
}

function nodeFacts(
  run: RunConfig,
  hardware: Machine,
  runtime: RuntimeFacts & Pick<RuntimeFeatures, 'recursiveReadOnly'>,
): NodeFacts {
  const amounts = Object.entries(allocatable(hardware.capacity, run.config));
  return {
    nodeName: run.nodeName,
    hostIps: hostIpsOf(run, hardware),
    allocatable: Object.fromEntries(amounts.map(([name, n]) => [name, name === 'cpu' ? `${n}m` : `${n}`])),
    ...hardware,
    ...runtime,
  };
}

function hostIpsOf({ nodeIps }: RunConfig, { addresses }: Machine): readonly string[] {
  return nodeIps.length > 0 ? nodeIps : addresses.slice(0, 1);
}

function cgroupLayout({ config }: RunConfig, { capacity }: Machine, driver: CgroupDriver): CgroupLayout {
  const { cgroupRoot: root, enforceNodeAllocatable: enforced } = config;
  const fixed = new Map<string, CgroupLimits>([
    [qosCgroup(root, driver, 'Guaranteed'), kubepodsLimits(capacity, config)],
  ]);
  if (enforced.includes('system-reserved'))
    fixed.set(config.systemReservedCgroup, reservedLimits(config.systemReserved));
  if (enforced.includes('kube-reserved')) fixed.set(config.kubeReservedCgroup, reservedLimits(config.kubeReserved));
  return { root, driver, fixed };
}

function podCgroups(root: string, driver: CgroupDriver): NonNullable<StatsPorts['cgroups']> {
  return {
    ofPod: ({ metadata: { uid }, spec }) => podCgroup(root, driver, qosClassOf(spec), uid),
    ofPods: qosCgroup(root, driver, 'Guaranteed'),
  };
}

function admissionNode(
  { config, nodeName, nodeLabels: configured }: RunConfig,
  { capacity, appArmor }: Machine,
  { supplementalGroupsPolicy }: RuntimeFeatures,
): AdmissionNode {
  return {
    nodeName,
    labels: nodeLabels(nodeName, process.arch, configured),
    taints: config.registerWithTaints,
    allocatable: allocatable(capacity, config),
    appArmor,
    allowedUnsafeSysctls: config.allowedUnsafeSysctls,
    supplementalGroupsPolicy,
  };
}

function edges(
  run: RunConfig,
  paths: NodePaths,
  facts: NodeFacts,
  cri: Cri,
  {
    files,
    credentials,
    meter,
    trace,
  }: Pick<ConnectPorts, 'files' | 'meter' | 'trace'> & { readonly credentials: Credentials },
): Pick<Edges, 'context' | 'observer' | 'probe' | 'hint$' | 'listening$' | 'meter' | 'trace'> {
  const { config } = run;
  const counter = revisions();
  const look = observer(cri, files, counter);
  const context: Edges['context'] = {
    config,
    facts,
    rules: {
      cpuCFSQuota: config.cpuCFSQuota,
      cpuPeriodMicroseconds: config.cpuCFSQuotaPeriod * 1_000,
      memoryCapacity: facts.memoryCapacity,
      hugePageSizes: facts.hugePageSizes,
      cgroupV2: facts.cgroupV2,
      swapController: facts.swapController,
      singleProcessOomKill: config.singleProcessOOMKill ?? !facts.cgroupV2,
    },
    paths,
    backoff: { initial: FIRST_BACKOFF, ceiling: config.crashLoopBackOff.maxContainerRestartPeriod },
    retryPeriod: RETRY_PERIOD,
    resyncPeriod: config.syncFrequency,
    cri,
    forgetTask: (id) => deleteContainerdTask(config.containerRuntimeEndpoint, id),
    cgroups: facts.cgroupDriver === 'systemd' ? systemdCgroups() : nodeCgroups(),
    files,
    mounts: nodeMounts(),
    volumeFiles: nodeVolumeFiles(),
    userNamespaces: userNamespaces({
      files,
      paths,
      maxPods: config.maxPods,
      idsPerPod: config.userNamespaces.idsPerPod,
    }),
    revisions: counter,
    monotonic: () => performance.now(),
    random: Math.random,
    http: nodeHttp(),
    trace,
    images: meterImages(
      imageService(cri, credentials, {
        parallel: parallelPulls(config),
        perSecond: config.registryPullQPS,
        burst: config.registryBurst,
      }),
      meter,
    ),
  };
  return {
    meter,
    trace,
    context,
    observer: look,
    probe: probeExecutor(cri),
    ...runtimeHints(cri, () => containerdTaskHints(config.containerRuntimeEndpoint), look),
  };
}

/** Facts sheet 1.3. */
function makeFolders({ rootDir, podLogsDir, containerLinksDir }: NodePaths, files: Files): Observable<never> {
  return defer(() =>
    concat(
      files.makeDir(rootDir, 0o750),
      files.makeDir(`${rootDir}/pods`, 0o750),
      files.makeDir(podLogsDir, 0o750),
      files.makeDir(containerLinksDir, 0o755),
    ),
  ).pipe(ignoreElements());
}
