import fc from 'fast-check';
import type { PodVerb } from '../../../src/model/pod-command.ts';
import type { FaultRates } from '../../../src/simulation/faults.ts';

/** What the process of a container does in its life; plain data, so that a world can be printed and kept. */
export interface ProcessPlan {
  /** So many instances end by themselves with `code` before one lasts. */
  readonly times: number;
  /** Milliseconds that such an instance lives. */
  readonly after: number;
  readonly code: number;
  /** The instance after those goes on for ever, or ends well. */
  readonly last: 'runs' | 'completes';
  /** Milliseconds from SIGTERM to its end. */
  readonly onTerm: number | 'ignored';
  /** Has a liveness probe, which fails of the first `times` instances from their age `after` on. */
  readonly liveness: boolean;
  /** Has a startup probe, which succeeds from this age on (milliseconds). */
  readonly startup?: number;
  /** Has a readiness probe, which succeeds from this age on (milliseconds), or never. */
  readonly readiness?: number | 'never';
  /** Has a postStart hook that takes so many milliseconds, and fails of the first `times` instances. */
  readonly postStart?: number;
  /** Has a preStop hook that takes so many milliseconds. */
  readonly preStop?: number;
}

/** One version of a manifest. */
export interface VersionPlan {
  readonly policy: 'Always' | 'OnFailure' | 'Never';
  /** Seconds. */
  readonly grace: number;
  readonly init: boolean;
  /** Sidecars, which start before the init container. */
  readonly sidecars?: readonly ProcessPlan[];
  /** Every container mounts an emptyDir in memory. */
  readonly volume: boolean;
  /** Every container mounts an emptyDir on the disk; that, or every container, may not take more than 100 bytes. */
  readonly limited?: 'volume' | 'containers';
  /** How little its memory may be taken; of the least unless told. */
  readonly qos?: 'Guaranteed' | 'Burstable';
  readonly containers: readonly ProcessPlan[];
}

export interface PodPlan {
  /** Its UID stays over edits, which then change images only; else each version is a pod of its own. */
  readonly fixedUid: boolean;
  readonly versions: readonly VersionPlan[];
}

/** A workload in two versions, which differ in their image. */
export interface WorkloadPlan {
  readonly kind: 'Deployment' | 'Job';
  /** Replicas, or completions. */
  readonly count: number;
  /** A pod of a Job ends after so many milliseconds; one with an even number in its name fails where `fails` says so. */
  readonly after: number;
  readonly fails: boolean;
}

/** A disk of its own for images, with some that no pod asks for. Sizes are in {@link IMAGE_UNIT}s. */
export interface ImagesPlan {
  readonly capacity: number;
  /** How many there are that nobody asks for, of 2 each. */
  readonly old: number;
  /** Milliseconds after which those that nobody uses go though there is room; absent: never. */
  readonly maximumAge?: number;
}

/** Bytes: what an image takes that pods ask for. */
export const IMAGE_UNIT = 10_000_000;

export type Happen =
  | { readonly do: 'want'; readonly pod: number; readonly version: number }
  | { readonly do: 'drop'; readonly pod: number }
  /** Somebody runs `rxlet stop`, `start` or `restart`. */
  | { readonly do: 'command'; readonly verb: PodVerb; readonly pod: number }
  /** Something fills the limited volume of a pod. */
  | { readonly do: 'fill'; readonly pod: number }
  /** Somebody's files take so many percent of the disk with the images. */
  | { readonly do: 'fillImageDisk'; readonly percent: number; readonly for: number }
  /** The node lacks memory: each second the kernel kills the container that is to go first. */
  | { readonly do: 'fillMemory'; readonly for: number }
  /** The document of a workload is written in one of its versions, or removed. */
  | { readonly do: 'wantWorkload'; readonly workload: number; readonly version: number }
  | { readonly do: 'dropWorkload'; readonly workload: number }
  /** The agent dies, and another one starts so many milliseconds later. */
  | { readonly do: 'crash'; readonly for: number }
  | { readonly do: 'restartRuntime'; readonly for: number }
  | { readonly do: 'forgetSandboxes' }
  | { readonly do: 'reboot' }
  | { readonly do: 'cutEvents' }
  | { readonly do: 'fullDisk'; readonly for: number }
  | { readonly do: 'readOnlyDisk'; readonly for: number }
  /** Somebody kills one of the running containers. */
  | { readonly do: 'kill'; readonly which: number }
  | { readonly do: 'killSandbox'; readonly which: number }
  /** Milliseconds that the clock jumps. */
  | { readonly do: 'setClock'; readonly by: number };

/** `after` is the distance to the step before, in milliseconds. */
export type StepPlan = { readonly after: number } & Happen;

/** A whole story: at the beginning all pods are wanted in their first version. */
export interface WorldPlan {
  readonly seed: number;
  /** Whether the runtime tells of events. */
  readonly events: boolean;
  readonly pods: readonly PodPlan[];
  /** Wanted in their first version from the beginning, too. */
  readonly workloads?: readonly WorkloadPlan[];
  readonly steps: readonly StepPlan[];
  /** What calls meet until the last step has been done. */
  readonly rates: FaultRates;
  /** Images are cleared away; absent: they all stay. */
  readonly images?: ImagesPlan;
  /** Answers that take no time come in the very step of their effect; `timeless`: most calls are answered before whoever sends them goes on. */
  readonly answers?: 'inStep' | 'timeless';
}

/** Mostly close to what was before: that is where races are. */
const distance = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 600 }), weight: 3 },
  { arbitrary: fc.integer({ min: 0, max: 4_000 }), weight: 2 },
  { arbitrary: fc.integer({ min: 0, max: 30_000 }), weight: 1 },
);

/** Nothing, more often than not; a property that is absent then. */
function rarely<Name extends string, Value>(
  name: Name,
  value: fc.Arbitrary<Value>,
  weight = 1,
): fc.Arbitrary<Readonly<Partial<Record<Name, Value>>>> {
  return fc.oneof(
    { arbitrary: fc.constant({}), weight: 5 },
    { arbitrary: value.map((one) => ({ [name]: one })), weight },
  ) as never;
}

const processPlan: fc.Arbitrary<ProcessPlan> = fc
  .tuple(
    fc.record({
      times: fc.oneof(
        { arbitrary: fc.constant(0), weight: 3 },
        { arbitrary: fc.integer({ min: 0, max: 3 }), weight: 2 },
      ),
      after: fc.integer({ min: 0, max: 5_000 }),
      code: fc.constantFrom(1, 0, 137),
      last: fc.constantFrom<ProcessPlan['last']>('runs', 'runs', 'completes'),
      onTerm: fc.constantFrom<number | 'ignored'>(10, 10, 900, 3_500, 'ignored'),
      liveness: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, { arbitrary: fc.constant(true), weight: 1 }),
    }),
    rarely('startup', fc.integer({ min: 0, max: 8_000 })),
    rarely('readiness', fc.oneof(fc.integer({ min: 0, max: 8_000 }), fc.constant<'never'>('never'))),
    rarely('postStart', fc.integer({ min: 0, max: 4_000 })),
    rarely('preStop', fc.integer({ min: 0, max: 6_000 })),
  )
  .map((parts) => Object.assign({}, ...parts) as ProcessPlan);

const versionPlan: fc.Arbitrary<VersionPlan> = fc
  .tuple(
    fc.record({
      policy: fc.constantFrom<VersionPlan['policy']>('Always', 'Always', 'OnFailure', 'Never'),
      grace: fc.integer({ min: 0, max: 8 }),
      init: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, { arbitrary: fc.constant(true), weight: 1 }),
      volume: fc.boolean(),
      containers: fc.array(processPlan, { minLength: 1, maxLength: 3, size: 'max' }),
    }),
    rarely('sidecars', fc.array(processPlan, { minLength: 1, maxLength: 2, size: 'max' }), 2),
    rarely('limited', fc.constantFrom<VersionPlan['limited']>('volume', 'containers'), 3),
    rarely('qos', fc.constantFrom<VersionPlan['qos']>('Guaranteed', 'Burstable'), 3),
  )
  .map((parts) => Object.assign({}, ...parts) as VersionPlan);

const podPlan: fc.Arbitrary<PodPlan> = fc.record({
  fixedUid: fc.boolean(),
  versions: fc.array(versionPlan, { minLength: 2, maxLength: 3, size: 'max' }),
});

const workloadPlan: fc.Arbitrary<WorkloadPlan> = fc.record({
  kind: fc.constantFrom('Deployment', 'Deployment', 'Job'),
  count: fc.integer({ min: 1, max: 3 }),
  after: fc.integer({ min: 0, max: 5_000 }),
  fails: fc.boolean(),
});

const imagesPlan: fc.Arbitrary<ImagesPlan> = fc
  .tuple(
    fc.record({ capacity: fc.integer({ min: 5, max: 20 }), old: fc.integer({ min: 0, max: 3 }) }),
    rarely('maximumAge', fc.integer({ min: 2_000, max: 60_000 }), 2),
  )
  .map((parts) => Object.assign({}, ...parts) as ImagesPlan);

const which = fc.integer({ min: 0, max: 5 });
const pod = fc.integer({ min: 0, max: 2 });
const doing = <Name extends Happen['do'], More extends object>(
  name: Name,
  more: { readonly [Key in keyof More]: fc.Arbitrary<More[Key]> },
): fc.Arbitrary<{ readonly do: Name } & More> => fc.record({ do: fc.constant(name), ...more }) as never;
const pause = distance;

const happen: fc.Arbitrary<Happen> = fc.oneof(
  { arbitrary: doing('want', { pod, version: fc.integer({ min: 0, max: 2 }) }), weight: 8 },
  { arbitrary: doing('drop', { pod }), weight: 4 },
  { arbitrary: doing('command', { verb: fc.constantFrom('stop', 'start', 'restart'), pod }), weight: 3 },
  { arbitrary: doing('fill', { pod }), weight: 3 },
  { arbitrary: doing('fillImageDisk', { percent: fc.integer({ min: 20, max: 100 }), for: pause }), weight: 1 },
  { arbitrary: doing('fillMemory', { for: pause }), weight: 1 },
  {
    arbitrary: doing('wantWorkload', { workload: fc.constant(0), version: fc.integer({ min: 0, max: 1 }) }),
    weight: 1,
  },
  { arbitrary: doing('dropWorkload', { workload: fc.constant(0) }), weight: 1 },
  { arbitrary: doing('crash', { for: pause }), weight: 4 },
  { arbitrary: doing('kill', { which }), weight: 2 },
  { arbitrary: doing('killSandbox', { which }), weight: 1 },
  { arbitrary: doing('restartRuntime', { for: pause }), weight: 1 },
  { arbitrary: doing('forgetSandboxes', {}), weight: 1 },
  { arbitrary: doing('reboot', {}), weight: 1 },
  { arbitrary: doing('cutEvents', {}), weight: 1 },
  { arbitrary: doing('fullDisk', { for: pause }), weight: 1 },
  { arbitrary: doing('readOnlyDisk', { for: pause }), weight: 1 },
  { arbitrary: doing('setClock', { by: fc.constantFrom(-3_600_000, -7_000, 7_000, 3_600_000) }), weight: 1 },
);

const rates: fc.Arbitrary<FaultRates> = fc.oneof(
  { arbitrary: fc.constant<FaultRates>({}), weight: 2 },
  {
    arbitrary: fc.constant<FaultRates>({
      fail: 0.04,
      slow: 0.04,
      late: 0.05,
      linger: 0.02,
      hang: 0.005,
      loseAnswer: 0.03,
    }),
    weight: 2,
  },
  { arbitrary: fc.constant<FaultRates>({ slow: 0.1, late: 0.15, linger: 0.1 }), weight: 1 },
  { arbitrary: fc.constant<FaultRates>({ fail: 0.2, loseAnswer: 0.1 }), weight: 1 },
);

export const worldPlans: fc.Arbitrary<WorldPlan> = fc
  .tuple(
    fc.record({
      seed: fc.integer({ min: 1, max: 1_000_000 }),
      events: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, { arbitrary: fc.constant(false), weight: 1 }),
      pods: fc.array(podPlan, { minLength: 1, maxLength: 3, size: 'max' }),
      steps: fc.array(
        fc.tuple(distance, happen).map(([after, what]): StepPlan => ({ after, ...what })),
        { minLength: 0, maxLength: 12, size: 'max' },
      ),
      rates,
    }),
    rarely('workloads', fc.tuple(workloadPlan), 2),
    rarely('images', imagesPlan, 2),
    rarely('answers', fc.constantFrom<WorldPlan['answers']>('inStep', 'timeless'), 2),
  )
  .map((parts) => Object.assign({}, ...parts) as WorldPlan);
