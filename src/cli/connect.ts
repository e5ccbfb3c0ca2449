import { availableParallelism } from 'node:os';
import { catchError, combineLatest, concat, defer, EMPTY, ignoreElements, map, switchMap, type Observable } from 'rxjs';
import { podCgroup, qosCgroup, type CgroupDriver } from '../model/cgroup.ts';
import { kubepodsLimits, reservedLimits } from '../model/cgroup-limits.ts';
import type { RunConfig } from '../model/config/run-config.ts';
import { messageOf } from '../model/errors.ts';
import type { NodePaths } from '../model/paths.ts';
import { qosClassOf } from '../model/qos.ts';
import { nodeCgroups } from '../host/cgroups/node-cgroups.ts';
import { systemdCgroups } from '../host/cgroups/systemd-cgroups.ts';
import { nodeHttp } from '../host/http/node-http.ts';
import { machine, type Machine } from '../host/machine/machine.ts';
import { nodeMounts } from '../host/mounts/node-mounts.ts';
import { nodeUsage } from '../host/usage/node-usage.ts';
import { nodeVolumeFiles } from '../host/volumes/node-volume-files.ts';
import { connectCri } from '../runtime/cri/connect-cri.ts';
import { startInTurns } from '../runtime/cri/start-turns.ts';
import { meterCalls } from '../runtime/cri/meter-calls.ts';
import { containerdTaskHints } from '../runtime/cri/events-containerd.ts';
import { nodeImages } from '../runtime/images/node-images.ts';
import { localUsage } from '../runtime/local-usage.ts';
import { probeExecutor } from '../runtime/probes/probe-executor.ts';
import { runtimeFacts } from '../runtime/runtime-facts.ts';
import { runtimeFeatures } from '../runtime/runtime-features.ts';
import { deleteContainerdTask } from '../runtime/cri/task-delete-containerd.ts';
import { userNamespaces } from '../runtime/user-namespaces.ts';
import type { StatsPorts } from '../server/stats/collect.ts';
import type { CgroupLayout } from '../streams/cgroups/keep-cgroups.ts';
import { meterCgroups } from '../streams/cgroups/meter-cgroups.ts';
import type { CgroupLimits } from '../streams/ports/cgroups.ts';
import type { Files } from '../streams/ports/files.ts';
import type { Meter } from '../streams/ports/meter.ts';
import type { Tracer } from '../streams/ports/tracer.ts';
import { logRotation } from './log-rotation.ts';
import { registryCredentials } from './registry-credentials.ts';
import { checkpointStore } from './checkpoint-store.ts';
import type { Edges } from './edges.ts';
import { admissionNode, edgesOf, hostIpsOf, nodeFacts } from './edges-of.ts';
import type { ImageGcLimits } from '../streams/image-gc/image-gc.ts';

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
  readonly tape: Edges['tape'];
}

/** For each processor some, as a start also waits: for the kernel, the network plugin, the disk. */
const STARTS_AT_ONCE = 4 * availableParallelism();
const CONTAINER_LINKS = '/var/log/containers';

/**
 * Opens the channel to the runtime and finds out what the machine is like. Emits once, as soon as the runtime has
 * answered, and holds the channel until unsubscribed. Errors where the folders cannot be made or the CRI is not v1.
 */
export function connect(
  run: RunConfig,
  { files, onWait, onProblem, meter, trace, tape }: ConnectPorts,
): Observable<NodeEdges> {
  const { config } = run;
  const paths: NodePaths = { rootDir: run.rootDir, podLogsDir: config.podLogsDir, containerLinksDir: CONTAINER_LINKS };
  const cri$ = connectCri({
    runtimeEndpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    requestTimeout: config.runtimeRequestTimeout,
  });
  const metered$ = cri$.pipe(map((cri) => startInTurns(meterCalls(cri, meter), STARTS_AT_ONCE)));
  const store = checkpointStore(`${run.rootDir}/state`, files);
  return metered$.pipe(
    switchMap((cri) =>
      combineLatest([
        runtimeFacts(cri, config.cgroupDriver, onWait),
        machine(run.rootDir),
        runtimeFeatures(cri),
        registryCredentials(run, files, onProblem),
        concat(makeFolders(paths, files, onProblem), store.load()),
      ]).pipe(
        map(([runtime, hardware, features, credentials, kept]) => ({
          ...edgesOf(
            run,
            paths,
            nodeFacts(run, hardware, { ...runtime, recursiveReadOnly: features.recursiveReadOnly }),
            {
              cri,
              forgetTask: (id) => deleteContainerdTask(config.containerRuntimeEndpoint, id),
              taskHints: (about) => containerdTaskHints(config.containerRuntimeEndpoint, about),
              cgroups: meterCgroups(runtime.cgroupDriver === 'systemd' ? systemdCgroups() : nodeCgroups(), meter),
              files,
              mounts: nodeMounts(),
              volumeFiles: nodeVolumeFiles(),
              userNamespaces: userNamespaces({
                files,
                paths,
                maxPods: config.maxPods,
                idsPerPod: config.userNamespaces.idsPerPod,
              }),
              monotonic: () => performance.now(),
              random: Math.random,
              http: nodeHttp(),
              probe: probeExecutor(cri),
              credentials,
              meter,
              trace,
              tape,
            },
          ),
          hostIps: hostIpsOf(run, hardware),
          ...(config.cgroupsPerQOS ? { cgroupLayout: cgroupLayout(run, hardware, runtime.cgroupDriver) } : {}),
          admission: admissionNode(run, hardware, features),
          checkpoints: store,
          ...logRotation(config, paths, cri),
          ...(config.localStorageCapacityIsolation
            ? { localUsage: localUsage({ cri, usage: nodeUsage(), files: nodeVolumeFiles(), rootDir: run.rootDir }) }
            : {}),
          imageGc: {
            images: nodeImages({ cri, usage: nodeUsage(), rootDir: run.rootDir }),
            limits: imageGcLimits(config),
          },
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

function imageGcLimits(config: RunConfig['config']): ImageGcLimits {
  return {
    highThresholdPercent: config.imageGCHighThresholdPercent,
    lowThresholdPercent: config.imageGCLowThresholdPercent,
    minimumAge: config.imageMinimumGCAge,
    maximumAge: config.imageMaximumGCAge,
    evictionHard: config.evictionHard,
  };
}

function podCgroups(root: string, driver: CgroupDriver): NonNullable<StatsPorts['cgroups']> {
  return {
    ofPod: ({ metadata: { uid }, spec }) => podCgroup(root, driver, qosClassOf(spec), uid),
    ofPods: qosCgroup(root, driver, 'Guaranteed'),
  };
}

/** Facts sheet 1.3. Without the folder of links, which only root can make, pods run all the same. */
function makeFolders(
  { rootDir, podLogsDir, containerLinksDir }: NodePaths,
  files: Files,
  onProblem: (problem: string) => void,
): Observable<never> {
  return defer(() =>
    concat(
      files.makeDir(rootDir, 0o750),
      files.makeDir(`${rootDir}/pods`, 0o750),
      files.makeDir(podLogsDir, 0o750),
      files.makeDir(containerLinksDir, 0o755).pipe(
        catchError((error: unknown) => {
          onProblem(`container logs get no links for collectors: ${messageOf(error)}`);
          return EMPTY;
        }),
      ),
    ),
  ).pipe(ignoreElements());
}
