import { concat, defer, merge, NEVER, of, Subject, tap, type Subscription } from 'rxjs';
import { composeAgent } from '../../src/cli/compose-agent.ts';
import { simulatedEdges } from '../../src/cli/simulate/simulated-edges.ts';
import type { Machine } from '../../src/host/machine/machine.ts';
import { resolveConfig } from '../../src/model/config/resolve-config.ts';
import type { RunConfig } from '../../src/model/config/run-config.ts';
import type { Desired } from '../../src/model/desired.ts';
import type { Pod, PodUid } from '../../src/model/pod.ts';
import { probeExecutor } from '../../src/runtime/probes/probe-executor.ts';
import { seededRandom } from '../../src/simulation/seeded-random.ts';
import { simulatedNode, type World } from '../../src/simulation/simulated-node.ts';
import { virtualTime } from '../../src/simulation/virtual-time.ts';
import { holdPods } from '../../src/sources/hold-pods.ts';
import { mergeSources } from '../../src/sources/merge-sources.ts';
import type { PodBook } from '../../src/streams/book/pod-book.ts';
import { stopMemory } from '../../src/cli/stop-memory.ts';

/** A node that holds as many pods as it is told to, in virtual time, and what its agent did. */
export interface ManyPods {
  readonly world: World;
  /** Starts an agent on the node as it is; the one before has crashed. */
  readonly start: () => void;
  readonly crash: () => void;
  /** Somebody kills the process of a container. */
  readonly kill: (containerId: string) => void;
  /** What the folder says from now on. */
  readonly want: (pods: readonly Pod[]) => void;
  /** Lets milliseconds pass. */
  readonly pass: (milliseconds: number) => void;
  /** Lets time pass until so many containers run, and nothing else is there; throws when that takes an hour. */
  readonly until: (running: number) => void;
  /** So far: calls to the runtime and the disk, pages of the book, and statuses told anew. */
  readonly counts: () => Counts;
}

export interface Counts {
  readonly calls: number;
  readonly relists: number;
  readonly pages: number;
  readonly statuses: number;
}

const HOUR = 3_600_000;
const SECOND = 1_000;

/** `counting` looks at every pod on every page, which would spoil what is measured. */
export function manyPods({ counting = false }: { readonly counting?: boolean } = {}): ManyPods {
  const time = virtualTime(24 * HOUR);
  const wishes = new Subject<Desired>();
  const counted = { calls: 0, relists: 0, pages: 0, statuses: 0 };
  const failures: unknown[] = [];
  let wanted: readonly Pod[] = [];
  let life: Subscription | undefined;
  const node = time.within(() =>
    simulatedNode({ seed: 1, images: { 'busybox:1.35': { present: true } }, remembers: false }),
  );

  function desired(): Desired {
    return { source: 'file', pods: wanted, problems: [] };
  }

  function countPages(): (book: PodBook) => void {
    let before: PodBook['entries'] = new Map();
    return ({ entries }) => {
      counted.pages += 1;
      for (const [uid, { status }] of entries) if (before.get(uid)?.status !== status) counted.statuses += 1;
      before = entries;
    };
  }

  function start(): void {
    const sources = holdPods(
      mergeSources([
        {
          name: 'file',
          desired$: concat(
            defer(() => of(desired())),
            wishes,
          ),
        },
      ]),
      NEVER,
      stopMemory('/var/lib/rxlet/stopped.json', node.files),
    );
    const edges = simulatedEdges(RUN, node, {
      machine: MACHINE,
      monotonic: time.passed,
      random: seededRandom(7),
      http: { get: () => of(200) },
      probe: probeExecutor,
      meter: (measured) => {
        if (measured.kind === 'criCall') counted.calls += 1;
        if (measured.kind === 'relist') counted.relists += 1;
      },
      trace: () => undefined,
    });
    const { report$, housekeeping$, checkpoint$, plegHealth$, book$ } = composeAgent(edges, sources, {
      update: 'prepare',
      drain$: NEVER,
    });
    const count = counting ? countPages() : () => undefined;
    life = merge(report$, housekeeping$, checkpoint$, plegHealth$, book$.pipe(tap(count))).subscribe({
      error: (error: unknown) => failures.push(error),
    });
  }

  function pass(milliseconds: number): void {
    time.passTo(time.passed() + milliseconds);
    if (failures.length > 0) throw new Error('a stream that never errors did', { cause: failures[0] });
  }

  return {
    world: node.world,
    start: () => {
      time.within(start);
    },
    crash: () => {
      time.within(() => life?.unsubscribe());
      life = undefined;
    },
    kill: (containerId) => {
      time.within(() => {
        node.world.kill(containerId);
      });
    },
    want: (pods) => {
      wanted = pods;
      time.within(() => {
        wishes.next(desired());
      });
    },
    pass,
    until: (running) => {
      for (let waited = 0; waited < HOUR; waited += SECOND) {
        if (node.world.running().length === running && node.world.containers().length === running) return;
        pass(SECOND);
      }
      throw new Error(`${node.world.running().length} of ${running} containers run`);
    },
    counts: () => ({ ...counted }),
  };
}

/** A pod of three containers; the same number, and the same life, is the same pod. */
export function manifest(number: number, life = 0): Pod {
  const uid = `${String(number).padStart(8, '0')}-0000-4000-8000-${String(life).padStart(12, '0')}`;
  return {
    metadata: { uid: uid as PodUid, name: `pod-${number}-n1`, namespace: 'default', labels: {}, annotations: {} },
    spec: {
      terminationGracePeriodSeconds: 5,
      restartPolicy: 'Always',
      containers: ['web', 'side', 'log'].map((name) => ({
        name,
        image: 'busybox:1.35',
        imagePullPolicy: 'IfNotPresent',
        resources: { requests: { cpu: '10m', memory: '8Mi' } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      })),
    },
  };
}

const RUN: RunConfig = {
  config: { ...defaults(), resolvConf: '', maxPods: 100_000 },
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
  memoryCapacity: 2 ** 43,
  capacity: { cpus: 4_096, memory: 2 ** 43, hugePages: {} },
  appArmor: false,
  hugePageSizes: [],
  cgroupV2: false,
  swapController: true,
  thermalThrottlePaths: [],
  addresses: ['192.0.2.2'],
};

function defaults(): RunConfig['config'] {
  const resolved = resolveConfig([]);
  if (resolved.kind === 'refused') throw new Error('the defaults are valid');
  return resolved.config;
}
