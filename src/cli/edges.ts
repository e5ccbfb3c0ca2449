import type { Observable } from 'rxjs';
import type { AdmissionNode } from '../model/admission/admission-node.ts';
import type { Observer } from '../runtime/observe.ts';
import type { PerformContext } from '../runtime/perform-context.ts';
import type { World } from '../streams/agent/world.ts';
import type { CgroupLayout } from '../streams/cgroups/keep-cgroups.ts';
import type { Checkpoint, CheckpointStore } from '../streams/checkpoints/checkpoints.ts';
import type { LocalUsage } from '../streams/ports/local-usage.ts';
import type { Meter } from '../streams/ports/meter.ts';
import type { Tracer } from '../streams/ports/tracer.ts';
import type { Hint } from '../streams/pleg/hint.ts';
import type { ProbePorts } from '../streams/probes/probe.ts';
import type { Tape } from './recording/tape.ts';

/** The world outside, ready for the agent: a runtime that has answered, a disk that has the folders. */
export interface Edges {
  /** All but the objects, which come from the sources. */
  readonly context: Omit<PerformContext, 'objects$'>;
  readonly observer: Observer;
  readonly probe: ProbePorts['probe'];
  readonly hint$: Observable<Hint>;
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
  /** Absent where images are left to somebody else. */
  readonly imageGc?: Pick<NonNullable<World['imageGc']>, 'images' | 'limits'>;
  /** What an earlier run of the agent kept of the pods. */
  readonly kept: readonly Checkpoint[];
  /** Hears what the agent does and how long that takes. */
  readonly meter: Meter;
  /** Hears what it hears, decides and does. */
  readonly trace: Tracer;
  /** Absent where nothing is recorded. */
  readonly tape?: Tape | undefined;
}
