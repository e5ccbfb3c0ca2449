import {
  asyncScheduler,
  combineLatest,
  concat,
  map,
  merge,
  NEVER,
  of,
  Subject,
  switchMap,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { expect } from 'vitest';
import { POD_NAME } from '../../src/model/cri/labels.ts';
import type { Measured, Meter } from '../../src/streams/ports/meter.ts';
import type { Tracer } from '../../src/streams/ports/tracer.ts';
import { traceLog } from '../../src/streams/trace/trace-log.ts';
import { traceMeter } from '../../src/streams/trace/trace-meter.ts';
import type { TraceEvent } from '../../src/streams/trace/trace-event.ts';
import type { AdmissionNode } from '../../src/model/admission/admission-node.ts';
import type { Desired } from '../../src/model/desired.ts';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import type { PodCommand, PodVerb } from '../../src/model/pod-command.ts';
import { nodeImages } from '../../src/runtime/images/node-images.ts';
import type { Cri } from '../../src/streams/ports/cri.ts';
import type { DiskUsage } from '../../src/streams/ports/node-usage.ts';
import type { NodeImages } from '../../src/streams/ports/node-images.ts';
import type { ImageGcLimits } from '../../src/streams/image-gc/image-gc.ts';
import { probeExecutor } from '../../src/runtime/probes/probe-executor.ts';
import { virtualTime } from '../../src/simulation/virtual-time.ts';
import { seededRandom } from '../../src/simulation/seeded-random.ts';
import {
  simulatedNode,
  type SimulatedNode,
  type SimulatedNodeOptions,
  type World,
} from '../../src/simulation/simulated-node.ts';
import { holdPods, type HeldSources } from '../../src/sources/hold-pods.ts';
import { expandDesired } from '../../src/sources/expand-desired.ts';
import { mergeSources } from '../../src/sources/merge-sources.ts';
import { planGround, type PlanGround } from '../../src/streams/view/plan-ground.ts';
import type { Agent } from '../../src/streams/agent.ts';
import { stopMemory } from '../../src/cli/stop-memory.ts';
import { workloadMemory } from '../../src/cli/workload-memory.ts';
import { podSights } from '../../src/streams/workloads/pod-sights.ts';
import type { PodSights } from '../../src/model/workloads/pod-sight.ts';
import { simulatedEdges } from '../../src/cli/simulate/simulated-edges.ts';
import { resolveConfig } from '../../src/model/config/resolve-config.ts';
import type { KubeletConfiguration } from '../../src/model/config/kubelet-configuration.ts';
import type { RunConfig } from '../../src/model/config/run-config.ts';
import type { Machine } from '../../src/host/machine/machine.ts';
import type { Tape } from '../../src/cli/recording/tape.ts';
import { composeAgent } from '../../src/cli/compose-agent.ts';

interface PodParts {
  readonly uid?: string;
  readonly containers?: readonly string[];
  readonly grace?: number;
  readonly restartPolicy?: string;
  readonly value?: string;
}

/** A pod of one container per name, which run busybox. */
export function pod(
  name: string,
  { uid = name, containers = ['main'], grace = 30, restartPolicy = 'Always', value = '' }: PodParts = {},
): Pod {
  return {
    metadata: { uid: uid as PodUid, name, namespace: 'default', labels: {}, annotations: {} },
    spec: {
      terminationGracePeriodSeconds: grace,
      restartPolicy,
      containers: containers.map((container) => ({
        name: container,
        image: 'busybox:1.35',
        imagePullPolicy: 'IfNotPresent',
        env: [{ name: 'VALUE', value }],
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      })),
    },
  };
}

/** The file source as a script: what the folder says from each time on (milliseconds). */
export function folder(...script: readonly (readonly [at: number, pods: readonly Pod[]])[]): Observable<Desired> {
  const texts = script.map(([at, pods], index) =>
    timer(index === 0 ? at : at - (script[index - 1]?.[0] ?? 0)).pipe(
      map((): Desired => ({ source: 'file', pods, problems: [] })),
    ),
  );
  return concat(...texts, NEVER);
}

/** How images are removed in a story; `capacity` is the bytes that the disk with the images holds. */
export interface ImageGcStory {
  readonly capacity: number;
  readonly limits: ImageGcLimits;
  /** Bytes that somebody else has on it; none unless told. */
  readonly foreign?: () => number;
  /** Hears how full it is whenever the agent does. */
  readonly told?: (disk: DiskUsage) => void;
}

export interface Life {
  readonly node: SimulatedNode;
  readonly world: World;
  /** Runs a fresh agent on the node as it is, from one time to another (milliseconds); its end is its crash. */
  readonly agent: (desired$: Observable<Desired>, from: number, until: number, admission?: AdmissionNode) => void;
  /** What the agents have measured so far. */
  readonly measured: readonly Measured[];
  /** What the agents have traced so far. */
  readonly traced: () => readonly TraceEvent[];
  /** Asks something of a pod by hand, as `rxlet stop` does; the agent that runs then hears it. */
  readonly command: (verb: PodVerb, name: string) => void;
  /** What the agent that runs now has in its book, as `rxlet plan` gets it. */
  readonly ground: () => PlanGround;
  /** Does something to the world at a time (milliseconds). */
  readonly at: (milliseconds: number, act: () => void) => void;
  /** Somebody sets the clock of the node, by so many milliseconds from what it tells now; time goes on as before. */
  readonly setClock: (by: number) => void;
  /** What the agent says against its own health now; empty when it is well. */
  readonly complaint: () => string;
}

/** Lives a story in virtual time: `tell` sets it up, time passes, then `check` looks at what came of it. */
export function live(
  {
    workloads = false,
    imageGc,
    tape,
    ...options
  }: Partial<SimulatedNodeOptions> & {
    readonly workloads?: boolean;
    readonly imageGc?: ImageGcStory;
    readonly tape?: Tape;
  },
  tell: (life: Life) => void,
  check: (world: World) => void,
): void {
  const time = virtualTime();
  time.within(() => {
    const node = simulatedNode({ seed: 1, images: { 'busybox:1.35': { present: true } }, ...options });
    const failures: unknown[] = [];
    const commands = new Subject<PodCommand>();
    let ground: PlanGround | undefined;
    const measured: Measured[] = [];
    const log = traceLog(100_000);
    let complaint = '';
    tell({
      node,
      world: node.world,
      measured,
      traced: () => log.after(0),
      complaint: () => complaint,
      agent: (desired$, from, until, admission) => {
        timer(from)
          .pipe(
            switchMap(() => {
              const sights = new Subject<PodSights>();
              const kept = workloadMemory('/var/lib/rxlet/workloads.json', node.files);
              const { report$, housekeeping$, checkpoint$, plegHealth$, book$, stopped$ } = agentOn(
                node,
                workloads ? expandDesired(desired$, sights, kept) : desired$,
                commands,
                (one) => measured.push(one),
                log.record,
                admission,
                imageGc,
                tape,
              );
              const noted$ = plegHealth$.pipe(
                tap(({ message }) => {
                  complaint = message;
                }),
              );
              return merge(
                report$,
                housekeeping$,
                checkpoint$,
                noted$,
                podSights(book$).pipe(
                  tap((seen) => {
                    sights.next(seen);
                  }),
                ),
                combineLatest([book$, stopped$]).pipe(
                  tap(([book, stopped]) => {
                    ground = planGround(book, { nodeName: 'n1', manifests: '/manifests', rootDir: '', stopped });
                  }),
                ),
              );
            }),
            takeUntil(timer(until)),
          )
          .subscribe({ error: (error: unknown) => failures.push(error) });
      },
      ground: () => {
        if (!ground) throw new Error('no agent has run yet');
        return JSON.parse(JSON.stringify(ground)) as PlanGround;
      },
      command: (verb, name) => {
        commands.next({ verb, namespace: 'default', name });
      },
      at: (milliseconds, act) => {
        timer(milliseconds).subscribe({ next: act, error: (error: unknown) => failures.push(error) });
      },
      setClock: time.setClock,
    });
    time.passToEnd();
    expect(failures).toEqual([]);
    check(node.world);
  });
}

export function agentOn(
  node: SimulatedNode,
  desired$: Observable<Desired>,
  command$: Observable<PodCommand>,
  meter: Meter,
  trace: Tracer,
  admission?: AdmissionNode,
  imageGc?: ImageGcStory,
  tape?: Tape,
  monotonic: () => number = () => asyncScheduler.now(),
): Agent & Pick<HeldSources, 'stopped$' | 'reply$'> {
  const { files } = node;
  const store = stopMemory('/var/lib/rxlet/stopped.json', files);
  const sources = holdPods(mergeSources([{ name: 'file', desired$ }]), command$, store);
  const traceMeasured = traceMeter(trace);
  // Which pods a node takes is a story of its own.
  const { admission: _, ...edges } = simulatedEdges(RUN, node, {
    machine: MACHINE,
    monotonic,
    random: seededRandom(7),
    http: { get: () => of(200) },
    probe: probeExecutor,
    meter: (measured) => {
      if (measured.kind !== 'criCall') meter(measured);
      traceMeasured(measured);
    },
    trace,
    tape,
  });
  const agent = composeAgent(
    {
      ...edges,
      ...(admission ? { admission } : {}),
      ...(imageGc ? { imageGc: { images: imagesOn(edges.context.cri, imageGc), limits: imageGc.limits } } : {}),
    },
    sources,
    { update: 'prepare', drain$: NEVER },
  );
  return { ...agent, stopped$: sources.stopped$, reply$: sources.reply$ };
}

/** The images of a simulated node, on a disk of their own. */
function imagesOn(cri: Cri, { capacity, foreign = () => 0, told = () => undefined }: ImageGcStory): NodeImages {
  const disk$ = cri.imageFsInfo().pipe(
    map(({ imageFilesystems = [] }): DiskUsage => {
      const used = (imageFilesystems[0]?.usedBytes?.value ?? 0) + foreign();
      return { capacity, used, available: Math.max(0, capacity - used), inodes: 0, inodesFree: 0 };
    }),
    tap(told),
  );
  return nodeImages({ cri, usage: { disk: () => disk$, device: () => of(1) }, rootDir: '/var/lib/rxlet' });
}

export const RUN: RunConfig = {
  config: { ...defaultConfig(), resolvConf: '' },
  nodeName: 'n1',
  nodeIps: [],
  nodeLabels: {},
  credentialProviders: undefined,
  manifestUrlTls: {},
  rootDir: '/var/lib/rxlet',
  socket: '',
  stopPodsOnExit: false,
  update: 'prepare',
  verbosity: 0,
  warnings: [],
};

const MACHINE: Machine = {
  memoryCapacity: 8 * 2 ** 30,
  capacity: { cpus: 2, memory: 24 * 2 ** 30, hugePages: {} },
  appArmor: false,
  hugePageSizes: [],
  cgroupV2: false,
  swapController: true,
  thermalThrottlePaths: [],
  addresses: ['192.0.2.2'],
};

function defaultConfig(): KubeletConfiguration {
  const resolved = resolveConfig([]);
  if (resolved.kind === 'refused') throw new Error('the defaults are valid');
  return resolved.config;
}

/** When each instance of a container started, in milliseconds since the beginning. */
export function starts(world: World, container = 'main'): readonly number[] {
  return world.history
    .filter(({ kind, container: of }) => kind === 'started' && of?.config.metadata?.name === container)
    .map(({ at }) => at);
}

/** Names of the pods of which a container runs. */
export function runningPods(world: World): readonly string[] {
  return world
    .running()
    .map(({ config }) => `${config.labels?.[POD_NAME] ?? ''}/${config.metadata?.name ?? ''}`)
    .toSorted();
}
