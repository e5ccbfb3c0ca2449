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
import { TestScheduler } from 'rxjs/testing';
import { expect } from 'vitest';
import { POD_NAME } from '../../src/model/cri/labels.ts';
import type { Measured, Meter } from '../../src/streams/ports/meter.ts';
import type { Tracer } from '../../src/streams/ports/tracer.ts';
import { traceLog } from '../../src/streams/trace/trace-log.ts';
import { traceMeter } from '../../src/streams/trace/trace-meter.ts';
import type { TraceEvent } from '../../src/streams/trace/trace-event.ts';
import { meterCalls } from '../../src/runtime/cri/meter-calls.ts';
import type { AdmissionNode } from '../../src/model/admission/admission-node.ts';
import type { Desired } from '../../src/model/desired.ts';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import type { PodCommand, PodVerb } from '../../src/model/pod-command.ts';
import { userNamespaceAt } from '../../src/model/user-namespace.ts';
import { imageService, NO_CREDENTIALS } from '../../src/runtime/images/image-service.ts';
import { observer } from '../../src/runtime/observe.ts';
import type { PerformContext } from '../../src/runtime/perform-plan.ts';
import { probeExecutor } from '../../src/runtime/probes/probe-executor.ts';
import { runtimeHints } from '../../src/runtime/runtime-hints.ts';
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
import type { Checkpoint } from '../../src/streams/checkpoints/checkpoints.ts';
import { stopMemory } from '../../src/cli/stop-memory.ts';
import { checkpointStore } from '../../src/cli/checkpoint-store.ts';
import { workloadMemory } from '../../src/cli/workload-memory.ts';
import { podSights } from '../../src/streams/workloads/pod-sights.ts';
import type { PodSights } from '../../src/model/workloads/pod-sight.ts';
import { composeAgent } from '../../src/cli/compose-agent.ts';
import { revisions } from '../../src/streams/pleg/revisions.ts';

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
  { workloads = false, ...options }: Partial<SimulatedNodeOptions> & { readonly workloads?: boolean },
  tell: (life: Life) => void,
  check: (world: World) => void,
): void {
  const { now } = asyncScheduler;
  new TestScheduler(() => undefined).run(({ flush }) => {
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
      setClock: (by) => {
        const before = asyncScheduler.now;
        asyncScheduler.now = () => before() + by;
      },
    });
    try {
      flush();
    } finally {
      asyncScheduler.now = now;
    }
    expect(failures).toEqual([]);
    check(node.world);
  });
}

export function agentOn(
  { cri: untraced, files, mounts, volumeFiles, world }: SimulatedNode,
  desired$: Observable<Desired>,
  command$: Observable<PodCommand>,
  meter: Meter,
  trace: Tracer,
  admission?: AdmissionNode,
): Agent & Pick<HeldSources, 'stopped$'> {
  const store = stopMemory('/var/lib/rxlet/stopped.json', files);
  const sources = holdPods(mergeSources([{ name: 'file', desired$ }]), command$, store);
  const traceMeasured = traceMeter(trace);
  const cri = meterCalls(untraced, traceMeasured);
  const counter = revisions();
  const look = observer(cri, files, counter);
  const paths = { rootDir: '/var/lib/rxlet', podLogsDir: '/var/log/pods', containerLinksDir: '/var/log/containers' };
  const context: Omit<PerformContext, 'objects$'> = {
    config: {
      cgroupRoot: '',
      cgroupsPerQOS: true,
      clusterDNS: [],
      clusterDomain: '',
      resolvConf: '',
      seccompDefault: false,
    },
    facts: {
      nodeName: 'n1',
      hostIps: ['192.0.2.2'],
      allocatable: { cpu: '2', memory: '24Gi' },
      swapController: true,
      memoryCapacity: 8 * 2 ** 30,
      hugePageSizes: [],
      cgroupV2: false,
      cgroupDriver: 'cgroupfs',
      runtimeName: 'simulated',
      thermalThrottlePaths: [],
    },
    rules: {
      cpuCFSQuota: true,
      cpuPeriodMicroseconds: 100_000,
      memoryCapacity: 8 * 2 ** 30,
      hugePageSizes: [],
      cgroupV2: false,
      swapController: true,
      singleProcessOomKill: true,
    },
    paths,
    backoff: { initial: 10_000, ceiling: 300_000 },
    retryPeriod: 10_000,
    resyncPeriod: 60_000,
    cri,
    files,
    mounts,
    volumeFiles,
    revisions: counter,
    userNamespaces: () => of(userNamespaceAt({ start: 65_536, length: 65_536 })),
    monotonic: () => asyncScheduler.now(),
    random: seededRandom(7),
    http: { get: () => of(200) },
    trace,
    images: imageService(cri, NO_CREDENTIALS, { parallel: 1, perSecond: 5, burst: 10 }),
  };
  const agent = composeAgent(
    {
      context,
      observer: look,
      probe: probeExecutor(cri),
      ...runtimeHints(cri, () => NEVER, look),
      hostIps: ['192.0.2.2'],
      ...(admission ? { admission } : {}),
      checkpoints: checkpointStore('/var/lib/rxlet/state', files),
      kept: keptOn(world),
      localUsage: { tree: volumeFiles.usage, layers: () => of(new Map()) },
      meter: (measured) => {
        meter(measured);
        traceMeasured(measured);
      },
      trace,
    },
    sources,
    { update: 'prepare', drain$: NEVER },
  );
  return { ...agent, stopped$: sources.stopped$ };
}

/** What an agent that starts now reads back; the disk of the simulated node answers at once here. */
function keptOn({ disk }: World): readonly Checkpoint[] {
  const folder = '/var/lib/rxlet/state';
  if (disk.typeOf(folder) === 'missing') return [];
  return disk.list(folder).map((name) => JSON.parse(disk.readFile(`${folder}/${name}`) ?? '') as Checkpoint);
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
