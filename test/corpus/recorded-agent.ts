import { asyncScheduler, defer, NEVER, of } from 'rxjs';
import { imageService, NO_CREDENTIALS } from '../../src/runtime/images/image-service.ts';
import { observer } from '../../src/runtime/observe.ts';
import type { PerformContext } from '../../src/runtime/perform-context.ts';
import { probeExecutor } from '../../src/runtime/probes/probe-executor.ts';
import { podActions } from '../../src/runtime/pod-actions.ts';
import { runtimeHints } from '../../src/runtime/runtime-hints.ts';
import { userNamespaces } from '../../src/runtime/user-namespaces.ts';
import { unmountVolumes } from '../../src/runtime/volumes/tear-down-volumes.ts';
import { seededRandom } from '../../src/simulation/seeded-random.ts';
import type { SimulatedNode } from '../../src/simulation/simulated-node.ts';
import type { PodSources } from '../../src/sources/merge-sources.ts';
import { DEAF } from '../../src/streams/ports/meter.ts';
import { agent, type Agent } from '../../src/streams/agent.ts';
import type { AgentTimings, World } from '../../src/streams/agent/world.ts';
import { emptyBook, type PodBook } from '../../src/streams/book/pod-book.ts';
import type { Checkpoint, CheckpointStore } from '../../src/streams/checkpoints/checkpoints.ts';
import { revisions } from '../../src/streams/pleg/revisions.ts';
import type { RecordedBehaviour } from './recorded-behaviour.ts';
import { admissionNodeOf, configOf, FACTS, HOST_IP, PATHS } from './recorded-node.ts';

const TIMINGS: AgentTimings = {
  pleg: {
    period: 1_000,
    listeningPeriod: 1_000,
    cooldown: 100,
    threshold: 180_000,
    deadline: 10_000,
    patience: 1_000,
    patienceWithBeginnings: 3_000,
  },
  statusPeriod: 5_000,
  housekeepingPeriod: 60_000,
};

const BOOK_FACTS: World['facts'] = { runtimeName: FACTS.runtimeName, hostIps: [HOST_IP], update: 'immediate' };

/** Before the agent has turned its first page. */
export const NO_BOOK: PodBook = emptyBook({ ...BOOK_FACTS, statuses: new Map() });

/** Checkpoints in memory, which outlive an agent. */
export interface Kept extends CheckpointStore {
  readonly all: () => readonly Checkpoint[];
}

export function keptInMemory(): Kept {
  const kept = new Map<string, Checkpoint>();
  return {
    all: () => [...kept.values()],
    load: () => defer(() => of([...kept.values()])),
    save: (checkpoint) =>
      defer(() => {
        kept.set(checkpoint.uid, checkpoint);
        return of(undefined);
      }),
    remove: (uid) =>
      defer(() => {
        kept.delete(uid);
        return of(undefined);
      }),
  };
}

/** The agent as `rxlet run` composes it, on a node of the recording with one of its configurations. */
export function agentOn(
  { cri, files, mounts, volumeFiles }: Pick<SimulatedNode, 'cri' | 'files' | 'mounts' | 'volumeFiles'>,
  sources: PodSources,
  variant: string,
  kept: Kept,
  { http, probe }: Pick<RecordedBehaviour, 'http' | 'probe'>,
): Agent {
  const config = configOf(variant);
  const counter = revisions();
  const look = observer(cri, files, counter);
  const context: PerformContext = {
    config,
    facts: FACTS,
    rules: {
      cpuCFSQuota: config.cpuCFSQuota,
      cpuPeriodMicroseconds: config.cpuCFSQuotaPeriod * 1_000,
      memoryCapacity: FACTS.memoryCapacity,
      hugePageSizes: FACTS.hugePageSizes,
      cgroupV2: FACTS.cgroupV2,
      swapController: FACTS.swapController,
      singleProcessOomKill: config.singleProcessOOMKill ?? !FACTS.cgroupV2,
    },
    paths: PATHS,
    backoff: { initial: 10_000, ceiling: config.crashLoopBackOff.maxContainerRestartPeriod },
    retryPeriod: 10_000,
    resyncPeriod: config.syncFrequency,
    cri,
    files,
    mounts,
    volumeFiles,
    objects$: sources.objects$,
    userNamespaces: userNamespaces({
      files,
      paths: PATHS,
      maxPods: config.maxPods,
      idsPerPod: config.userNamespaces.idsPerPod,
    }),
    revisions: counter,
    monotonic: () => asyncScheduler.now(),
    random: seededRandom(7),
    http,
    images: imageService(cri, NO_CREDENTIALS, { parallel: 1, perSecond: 5, burst: 10 }),
  };
  return agent(
    {
      batch$: sources.batch$,
      objects$: sources.objects$,
      allSeen$: sources.allSeen$,
      ...runtimeHints(cri, () => NEVER, look),
      drain$: NEVER,
      cri,
      files,
      paths: PATHS,
      monotonic: context.monotonic,
      unmountVolumes: (uid) => unmountVolumes(uid, context),
      listPods: look.listPods,
      observePod: look.observePod,
      revisions: counter,
      facts: { ...BOOK_FACTS, node: admissionNodeOf(variant) },
      checkpoints: kept,
      kept: kept.all(),
      meter: DEAF,
      backoff: context.backoff,
      actions: podActions(look, context),
      probe: (target, asked) => (asked.exec ? probeExecutor(cri)(target, asked) : probe(target, asked)),
      trace: () => undefined,
      random: context.random,
    },
    TIMINGS,
  );
}
