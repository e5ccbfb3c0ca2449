import type { Observable } from 'rxjs';
import type { PodChange } from '../../model/desired.ts';
import type { ObservedPod, Snapshot } from '../../model/observed.ts';
import type { ObjectSet } from '../../model/objects/object-set.ts';
import type { NodePaths } from '../../model/paths.ts';
import type { PodUid } from '../../model/pod.ts';
import type { BackoffLimits } from '../../model/restart/backoff.ts';
import type { BookEvent, BookFacts, Page, PodBook } from '../book/pod-book.ts';
import type { CgroupLayout } from '../cgroups/keep-cgroups.ts';
import type { Checkpoint, CheckpointStore } from '../checkpoints/checkpoints.ts';
import type { ImageGcLimits, ImageGcPorts } from '../image-gc/image-gc.ts';
import type { RotationConfig, RotationPorts } from '../logs/rotate-logs.ts';
import type { Hint } from '../pleg/hint.ts';
import type { PlegTimings } from '../pleg/pleg.ts';
import type { Revisions } from '../pleg/revisions.ts';
import type { Cgroups } from '../ports/cgroups.ts';
import type { Cri } from '../ports/cri.ts';
import type { Files } from '../ports/files.ts';
import type { LocalUsage } from '../ports/local-usage.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeImages } from '../ports/node-images.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { ProbePorts } from '../probes/probe.ts';
import type { PodActions } from '../workers/pod-workers.ts';

/** Everything the agent hears from the world, and every way it may act on it. */
export interface World {
  readonly batch$: Observable<readonly PodChange[]>;
  /** What serves the pods; the set of this moment at once. */
  readonly objects$: Observable<ObjectSet>;
  /** Turns true once every source has told what it wants. */
  readonly allSeen$: Observable<boolean>;
  /** Pods of which the runtime says that something happened; only ever a hint. */
  readonly hint$: Observable<Hint>;
  /** Whether it says so at all. */
  readonly listening$: Observable<boolean>;
  /** Ends all pods, as before an exit that is to leave nothing behind. */
  readonly drain$: Observable<unknown>;
  readonly cri: Pick<Cri, 'version' | 'status'>;
  readonly files: Files;
  readonly paths: NodePaths;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly unmountVolumes: (uid: PodUid) => Observable<never>;
  readonly listPods: () => Observable<Snapshot>;
  readonly observePod: (uid: PodUid, listed?: ObservedPod) => Observable<ObservedPod>;
  readonly revisions: Revisions;
  readonly facts: Omit<BookFacts, 'statuses' | 'eviction'>;
  /** How long evicted pods stay away, as crash-looping containers do. */
  readonly backoff: BackoffLimits;
  /** Absent where nobody is evicted for what it takes of the disk. */
  readonly localUsage?: LocalUsage;
  readonly checkpoints: CheckpointStore;
  /** Absent where the cgroups of pods are left to the runtime. */
  readonly cgroups?: { readonly port: Cgroups; readonly layout: CgroupLayout };
  /** Absent where images are left to somebody else. */
  readonly imageGc?: {
    readonly images: NodeImages;
    /** Removes a container that has ended, with its log; emits when that is done. */
    readonly removeContainer: ImageGcPorts['removeContainer'];
    readonly limits: ImageGcLimits;
    readonly nodeName: string;
  };
  /** Absent where the logs of containers are left to somebody else. */
  readonly rotation?: { readonly ports: RotationPorts; readonly config: RotationConfig };
  /** What an earlier run of the agent kept. */
  readonly kept: readonly Checkpoint[];
  readonly actions: PodActions;
  readonly probe: ProbePorts['probe'];
  /** Hears what was measured. */
  readonly meter: Meter;
  /** Hears every input, decision and effect as it comes. */
  readonly trace: Tracer;
  /** Hears every page of the book as a whole, before anything comes of it; absent: nobody does. */
  readonly turned?: (before: PodBook, event: BookEvent, page: Page) => void;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

export interface AgentTimings {
  readonly pleg: PlegTimings;
  /** Milliseconds between two questions to the runtime how it is (kubelet: 5 s). */
  readonly statusPeriod: number;
  /** Milliseconds between two rounds of housekeeping on disk. */
  readonly housekeepingPeriod: number;
}
