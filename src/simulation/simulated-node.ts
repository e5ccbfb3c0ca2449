import { fromRoot } from '../model/paths.ts';
import { merge, type Observable } from 'rxjs';
import type { CgroupDriver, Image } from '../model/cri/api.ts';
import { TERMINATION_MESSAGE_PATH } from '../model/cri/labels.ts';
import type { Cri } from '../streams/ports/cri.ts';
import type { CriStats } from '../streams/ports/cri-stats.ts';
import type { Files } from '../streams/ports/files.ts';
import type { Mounts } from '../streams/ports/mounts.ts';
import type { VolumeFiles } from '../streams/ports/volume-files.ts';
import { calls, type Latency } from './calls.ts';
import { containerLogs } from './container-logs.ts';
import type { Faults, SimulatedCall } from './faults.ts';
import { hostFilesIn, type HostFiles } from './host-files.ts';
import { imageStore, type SimulatedImage } from './image-store.ts';
import { LATENCIES, OTHER_LATENCY } from './latencies.ts';
import { KILLED, machine } from './machine.ts';
import { memoryDisk, type MemoryDisk } from './memory-disk.ts';
import { memoryFiles } from './memory-files.ts';
import { memoryMounts } from './memory-mounts.ts';
import { memoryVolumeFiles } from './memory-volume-files.ts';
import type { Happening, SimulatedContainer, SimulatedSandbox } from './node-objects.ts';
import { NEW_NODE, type NodeState } from './node-state.ts';
import type { ContainerBehaviour } from './process-script.ts';
import { seededRandom } from './seeded-random.ts';
import { simulatedCri } from './simulated-cri.ts';

export interface SimulatedNodeOptions {
  /** Equal seeds and equal calls give equal lives of the node, to the millisecond. */
  readonly seed: number;
  /** Milliseconds that calls take, by name (`RunPodSandbox`, `files.writeFile`), instead of {@link LATENCIES}. */
  readonly latencies?: Readonly<Record<string, Latency>>;
  /** Images by name. Those that are not named can be fetched, and are not on the node. */
  readonly images?: Readonly<Record<string, SimulatedImage>>;
  /** What the process of each container does; unless told it runs for ever and ends politely. */
  readonly containerBehaviour?: ContainerBehaviour;
  /** When a way takes place that takes no time, to the runtime or back: after all that is due in that millisecond, or `inStep`. */
  readonly answers?: 'inStep';
  /** Which calls go wrong. */
  readonly faults?: Faults;
  /** Whether the runtime has a stream of container events; true unless told. */
  readonly events?: boolean;
  readonly cgroupDriver?: CgroupDriver;
  /** What the runtime remembers of an earlier life; a new node unless told. */
  readonly from?: NodeState;
  /** Where logs and termination messages are left; on the disk of the node unless told. */
  readonly hostFiles?: HostFiles;
  /** Whether calls and happenings are kept for {@link World}; true unless told. A node that is to live long forgets. */
  readonly remembers?: boolean;
}

/** The node as somebody sees it who stands beside it. */
export interface World {
  readonly sandboxes: () => readonly SimulatedSandbox[];
  readonly containers: () => readonly SimulatedContainer[];
  readonly container: (containerId: string) => SimulatedContainer | undefined;
  /** Those that are on the node. */
  readonly images: () => readonly Image[];
  /** The containers whose process runs now. */
  readonly running: () => readonly SimulatedContainer[];
  /** Every call to the runtime and the disk, in the order in which they were sent. */
  readonly calls: readonly SimulatedCall[];
  /** What came to pass since the beginning. */
  readonly history: readonly Happening[];
  /** The same as a stream, from now on; it never ends. */
  readonly happening$: Observable<Happening>;
  readonly disk: MemoryDisk;
  /** All that another runtime needs to go on from here. */
  readonly state: () => NodeState;
  /** Emits whenever that has changed. */
  readonly change$: Observable<unknown>;

  /** The process of a container ends now by itself, with a code and a reason, as `OOMKilled`. */
  readonly exit: (containerId: string, code: number, reason?: string) => void;
  /** Somebody kills the process of a container (SIGKILL). */
  readonly kill: (containerId: string) => void;
  /** The process of a sandbox dies; its containers go on. */
  readonly killSandbox: (sandboxId: string) => void;
  /** The runtime ends or crashes: calls under way are cut, new ones fail, containers go on. */
  readonly stopRuntime: () => void;
  /** The runtime is back, with all that it had. */
  readonly startRuntime: () => void;
  /** The machine starts anew: every process is gone, the runtime remembers what it had. */
  readonly reboot: () => void;
  /** The runtime forgets everything, and nothing of it runs any more. */
  readonly wipeRuntime: () => void;
  /** The stream of events breaks off; calls go on. */
  readonly cutEvents: () => void;
  readonly setNetworkReady: (isReady: boolean) => void;
  readonly setFaults: (faults: Faults) => void;
}

export interface SimulatedNode {
  readonly cri: Cri & CriStats;
  readonly files: Files;
  readonly mounts: Mounts;
  readonly volumeFiles: VolumeFiles;
  readonly world: World;
}

/** Exit code and reason of a container that the runtime finds dead after a reboot, as containerd has them. */
const LOST = { code: 255, reason: 'Unknown' };

/** Between the seeds of two lives of one node. */
const LIFE = 7_919;

/**
 * A node in memory and in RxJS's time: a container runtime, its images and processes, and a disk.
 *
 * The node lives on when nobody is subscribed, so an agent may crash (unsubscribe from everything) and
 * another one start on what it finds. Nothing is left to chance but what the seed says.
 */
export function simulatedNode(options: SimulatedNodeOptions): SimulatedNode {
  const {
    seed,
    latencies = {},
    images = {},
    containerBehaviour = () => ({}),
    faults = noFaults,
    events = true,
    from = NEW_NODE,
    remembers = true,
  } = options;
  const random = seededRandom(seed);
  let networkReady = true;

  const disk = memoryDisk();
  const { hostFiles = hostFilesIn(disk) } = options;
  const logs = containerLogs(hostFiles);
  const store = imageStore(images, from.images);
  const phone = calls({
    random,
    faults,
    remembers,
    inStep: options.answers === 'inStep',
    latencyOf: (name) => latencies[name] ?? LATENCIES[name] ?? OTHER_LATENCY,
  });
  const body = machine({
    // Ids are drawn from a row of their own, so that they do not depend on how long calls take.
    random: seededRandom(seed + 1 + from.lives * LIFE),
    behaviour: containerBehaviour,
    logs,
    from,
    remembers,
    onTerminationMessage: (container, content) => {
      leaveMessage(hostFiles, container, content);
    },
  });
  const cri = simulatedCri({
    calls: phone,
    machine: body,
    images: store,
    logs,
    cgroupDriver: options.cgroupDriver ?? 'CGROUPFS',
    hasEvents: events,
    networkReady: () => networkReady,
  });

  function endAll(): void {
    for (const id of body.containers.keys()) body.exit(id, LOST.code, LOST.reason);
    for (const id of body.sandboxes.keys()) body.stopSandbox(id);
  }

  return {
    cri,
    files: memoryFiles(disk, phone),
    mounts: memoryMounts(disk, phone),
    volumeFiles: memoryVolumeFiles(disk, phone),
    world: {
      sandboxes: () => [...body.sandboxes.values()],
      containers: () => [...body.containers.values()],
      container: (id) => body.containers.get(id),
      images: store.all,
      running: () => [...body.containers.values()].filter(({ state }) => state === 'running'),
      calls: phone.log,
      history: body.history,
      happening$: body.happening$,
      disk,
      state: () => ({
        lives: from.lives + 1,
        sandboxes: [...body.sandboxes.values()],
        containers: [...body.containers.values()],
        images: store.names(),
        addresses: body.addresses(),
      }),
      change$: merge(body.change$, store.change$),
      exit: body.exit,
      kill: (id) => {
        body.exit(id, KILLED);
      },
      killSandbox: body.stopSandbox,
      stopRuntime: () => {
        phone.setUp(false);
      },
      startRuntime: () => {
        phone.setUp(true);
      },
      reboot: () => {
        phone.setUp(false);
        endAll();
        phone.setUp(true);
      },
      wipeRuntime: () => {
        for (const id of [...body.containers.keys()]) body.removeContainer(id);
        for (const id of [...body.sandboxes.keys()]) {
          body.stopSandbox(id);
          body.removeSandbox(id);
        }
      },
      cutEvents: phone.cutStreams,
      setNetworkReady: (isReady) => {
        networkReady = isReady;
      },
      setFaults: phone.setFaults,
    },
  };
}

/** Writes where the container's own file for it is mounted from. */
function leaveMessage(files: HostFiles, { config }: SimulatedContainer, content: string): void {
  const path = fromRoot(config.annotations?.[TERMINATION_MESSAGE_PATH] ?? '');
  const hostPath = config.mounts?.find(({ containerPath }) => containerPath === path)?.hostPath;
  if (hostPath !== undefined) files.overwrite(hostPath, content);
}

function noFaults(): undefined {
  return undefined;
}
