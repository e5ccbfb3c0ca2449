import { combineLatest, concat, defer, ignoreElements, map, switchMap, type Observable } from 'rxjs';
import type { RunConfig } from '../model/config/run-config.ts';
import type { NodeFacts } from '../model/node-facts.ts';
import type { NodePaths } from '../model/paths.ts';
import type { PodUid } from '../model/pod.ts';
import { shareByKey } from '../operators/share-by-key.ts';
import { nodeHttp } from '../host/http/node-http.ts';
import { machine } from '../host/machine/machine.ts';
import { connectCri } from '../runtime/cri/connect-cri.ts';
import { containerdTaskHints } from '../runtime/cri/events-containerd.ts';
import { observer, type Observer } from '../runtime/observe.ts';
import type { PerformContext } from '../runtime/perform-plan.ts';
import { probeExecutor } from '../runtime/probes/probe-executor.ts';
import { runtimeFacts } from '../runtime/runtime-facts.ts';
import { runtimeHints } from '../runtime/runtime-hints.ts';
import { revisions } from '../streams/pleg/revisions.ts';
import type { ProbePorts } from '../streams/probes/probe.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { Files } from '../streams/ports/files.ts';
import type { Checkpoint, CheckpointStore } from '../streams/checkpoints/checkpoints.ts';
import { checkpointStore } from './checkpoint-store.ts';

/** The world outside, ready for the agent: a runtime that has answered, a disk that has the folders. */
export interface Edges {
  readonly context: PerformContext;
  readonly observer: Observer;
  readonly probe: ProbePorts['probe'];
  readonly hint$: Observable<PodUid>;
  readonly hostIps: readonly string[];
  readonly checkpoints: CheckpointStore;
  /** What an earlier run of the agent kept of the pods. */
  readonly kept: readonly Checkpoint[];
}

export interface ConnectPorts {
  readonly files: Files;
  readonly onWait: (why: string) => void;
}

const CONTAINER_LINKS = '/var/log/containers';
const FIRST_BACKOFF = 10_000;
const RETRY_PERIOD = 10_000;

/**
 * Opens the channel to the runtime and finds out what the machine is like. Emits once, as soon as the runtime has
 * answered, and holds the channel until unsubscribed. Errors where the folders cannot be made or the CRI is not v1.
 */
export function connect(run: RunConfig, { files, onWait }: ConnectPorts): Observable<Edges> {
  const { config } = run;
  const paths: NodePaths = { rootDir: run.rootDir, podLogsDir: config.podLogsDir, containerLinksDir: CONTAINER_LINKS };
  const cri$ = connectCri({
    runtimeEndpoint: config.containerRuntimeEndpoint,
    imageEndpoint: config.imageServiceEndpoint,
    requestTimeout: config.runtimeRequestTimeout,
  });
  const store = checkpointStore(`${run.rootDir}/state`, files);
  return cri$.pipe(
    switchMap((cri) =>
      combineLatest([
        runtimeFacts(cri, config.cgroupDriver, onWait),
        machine(),
        concat(makeFolders(paths, files), store.load()),
      ]).pipe(
        map(([runtime, hardware, kept]) => ({
          ...edges(run, paths, { nodeName: run.nodeName, ...hardware, ...runtime }, cri, files),
          hostIps: run.nodeIps.length > 0 ? run.nodeIps : hardware.addresses.slice(0, 1),
          checkpoints: store,
          kept,
        })),
      ),
    ),
  );
}

function edges(
  run: RunConfig,
  paths: NodePaths,
  facts: NodeFacts,
  cri: Cri,
  files: Files,
): Pick<Edges, 'context' | 'observer' | 'probe' | 'hint$'> {
  const { config } = run;
  const counter = revisions();
  const look = observer(cri, files, counter);
  const context: PerformContext = {
    config,
    facts,
    rules: {
      cpuCFSQuota: config.cpuCFSQuota,
      cpuPeriodMicroseconds: config.cpuCFSQuotaPeriod * 1_000,
      memoryCapacity: facts.memoryCapacity,
      hugePageSizes: facts.hugePageSizes,
      cgroupV2: facts.cgroupV2,
    },
    paths,
    backoff: { initial: FIRST_BACKOFF, ceiling: config.crashLoopBackOff.maxContainerRestartPeriod },
    retryPeriod: RETRY_PERIOD,
    resyncPeriod: config.syncFrequency,
    cri,
    files,
    revisions: counter,
    random: Math.random,
    http: nodeHttp(),
    images: {
      status: (image) => cri.imageStatus({ image: { image } }),
      pull: shareByKey((image: string) =>
        cri.pullImage({ image: { image } }).pipe(map(({ imageRef }) => imageRef ?? '')),
      ),
    },
  };
  return {
    context,
    observer: look,
    probe: probeExecutor(cri),
    hint$: runtimeHints(cri, () => containerdTaskHints(config.containerRuntimeEndpoint), look),
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
