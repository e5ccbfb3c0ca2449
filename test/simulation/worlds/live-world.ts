import {
  defer,
  EMPTY,
  finalize,
  merge,
  ReplaySubject,
  Subject,
  switchMap,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { assertNever } from '../../../src/model/errors.ts';
import type { Tape } from '../../../src/cli/recording/tape.ts';
import { workloadMemory } from '../../../src/cli/workload-memory.ts';
import type { ExecSyncRequest, Image, RemoveImageRequest } from '../../../src/model/cri/api.ts';
import type { Desired } from '../../../src/model/desired.ts';
import type { Pod, PodStatus } from '../../../src/model/pod.ts';
import type { PodCommand } from '../../../src/model/pod-command.ts';
import type { PodSights } from '../../../src/model/workloads/pod-sight.ts';
import { expandDesired } from '../../../src/sources/expand-desired.ts';
import type { CommandReply } from '../../../src/sources/hold-pods.ts';
import { podSights } from '../../../src/streams/workloads/pod-sights.ts';
import type { Latency } from '../../../src/simulation/calls.ts';
import { faultDice, type Fault, type SimulatedCall } from '../../../src/simulation/faults.ts';
import { CALL_NAMES } from '../../../src/simulation/latencies.ts';
import { KILLED } from '../../../src/simulation/machine.ts';
import type { SimulatedContainer } from '../../../src/simulation/node-objects.ts';
import {
  simulatedNode,
  type SimulatedNode,
  type SimulatedNodeOptions,
} from '../../../src/simulation/simulated-node.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';
import { placesOf } from '../../../src/streams/book/places.ts';
import type { Places, PodBook, PodPhase } from '../../../src/streams/book/pod-book.ts';
import { agentOn, type ImageGcStory } from '../harness.ts';
import type { Entry, WorldRecord } from './journal.ts';
import { behaviourOf, fillingOf, plannedPod, plannedWorkload, TOO_MUCH, type PlannedPod } from './planned-pods.ts';
import { missingIn } from './missing.ts';
import { imageGcOf, imagesOf } from './planned-images.ts';
import type { Happen, WorldPlan } from './world-plan.ts';

/** Milliseconds after the last step until faults stop. */
const AFTERMATH = 3_000;
/** Milliseconds from then on in which all must be well: a call that hangs has 4 minutes, and a back-off 5. */
const BOUND = 16 * 60_000;
/** Milliseconds between two looks whether all is well, and how many in a row have to find it so. */
const LOOK = 1_000;
const LOOKS = 4;
/** Milliseconds that a fault lasts which has no other end. */
const LONG = 60_000;
/** Milliseconds between two containers that the kernel kills while memory is wanting. */
const OOM_PAUSE = 1_000;

/** What is done to the ports of a node before the agent gets them. */
export type Disguise = (node: SimulatedNode) => SimulatedNode;

/** Lives through a world with the real agent, in virtual time. */
export function liveWorld(plan: WorldPlan, disguise: Disguise = (node) => node): WorldRecord {
  const time = virtualTime();
  const entries: Entry[] = [];
  const failures: string[] = [];
  const fail = (error: unknown): void => {
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  type Unstamped = Entry extends infer One ? (One extends Entry ? Omit<One, 'at'> : never) : never;
  const write = (entry: Unstamped): void => {
    entries.push({ at: time.passed(), ...entry });
  };

  const calmAt = plan.steps.reduce((sum, { after }) => sum + after, 0) + longestPause(plan) + AFTERMATH;
  const dice = faultDice(plan.rates);
  const node = simulatedNode({
    seed: plan.seed,
    events: plan.events,
    images: imagesOf(plan),
    ...paceOf(plan),
    containerBehaviour: behaviourOf(plan, time.passed),
    faults: (call, random) => {
      const { name, request } = call;
      write({ kind: 'call', index: world.calls.length - 1, name, request });
      if (name === 'RemoveImage') noteImage((request as RemoveImageRequest).image?.image ?? '');
      return time.passed() < calmAt ? inTheEnd(call, dice(call, random)) : undefined;
    },
  });
  const { world } = node;
  const shown = disguise(node);

  const wanted = new Map<number, PlannedPod>(plan.pods.map((_pod, index) => [index, plannedPod(plan, index, 0)]));
  const workloads = new Map((plan.workloads ?? []).map((_one, which) => [which, plannedWorkload(plan, which, 0)]));
  /** The pods of workloads, as the agent that lived last had them. */
  let expanded: readonly Pod[] = [];
  let stopped: ReadonlySet<string> = new Set();
  const sets = new ReplaySubject<Desired>(1);
  const commands = new Subject<PodCommand>();
  const wantedByUid = (): ReadonlyMap<string, PlannedPod> =>
    new Map(
      [...wanted.values(), ...expanded.map((pod): PlannedPod => ({ pod }))]
        .filter(({ pod }) => !stopped.has(pod.metadata.uid))
        .map((one) => [one.pod.metadata.uid, one]),
    );
  function writeWanted(): void {
    write({ kind: 'wanted', wanted: wantedByUid() });
  }
  function tell(): void {
    writeWanted();
    const pods = [...wanted.values()].map(({ pod }) => pod);
    sets.next({ source: 'file', pods, objects: [...workloads.values()], problems: [] });
  }

  /** Bytes that somebody else has on the disk with the images. */
  let foreign = 0;
  const imageGc: ImageGcStory | undefined = plan.images && {
    ...imageGcOf(plan.images),
    foreign: () => foreign,
    told: ({ used, capacity }) => {
      write({ kind: 'disk', used, capacity });
    },
  };
  function noteImage(id: string): void {
    const all = world.images();
    const image = all.find((one) => one.id === id);
    const namesOf = ({ repoTags = [] }: Image): readonly string[] => repoTags;
    if (image)
      write({
        kind: 'imageGoes',
        names: namesOf(image),
        isPinned: image.pinned === true,
        present: all.flatMap(namesOf),
      });
  }

  const agents = new Subject<boolean>();
  const done = new Subject<undefined>();
  let phases: ReadonlyMap<string, PodPhase> = new Map();
  let statuses: ReadonlyMap<string, PodStatus> = new Map();

  function endless<T>(stream: string, stream$: Observable<T>): Observable<T> {
    return stream$.pipe(
      tap({
        error: (error: unknown) => {
          write({ kind: 'streamEnd', stream, error });
        },
        complete: () => {
          write({ kind: 'streamEnd', stream });
        },
      }),
    );
  }

  /** When each pod that was evicted is to begin anew; those that a later agent takes up are no news. */
  const evictedUntil = new Map<string, number>();
  function noteEvictions({ entries: pages }: PodBook): void {
    for (const [uid, { eviction }] of pages) {
      if (!eviction || evictedUntil.get(uid) === eviction.until) continue;
      evictedUntil.set(uid, eviction.until);
      const takesTooMuch = world.disk.typeOf(fillingOf(uid)) !== 'missing';
      write({ kind: 'evicted', uid, wait: eviction.delay, takesTooMuch });
    }
  }

  function notePhases({ entries: pages }: PodBook): void {
    const after = new Map([...pages].map(([uid, { phase }]) => [uid as string, phase]));
    for (const [uid, phase] of after) if (phases.get(uid) !== phase) write({ kind: 'phase', uid, phase });
    for (const uid of phases.keys()) if (!after.has(uid)) write({ kind: 'phase', uid });
    phases = after;
    statuses = new Map([...pages].flatMap(([uid, { status }]) => (status ? [[uid as string, status]] : [])));
  }

  /** Before anything comes of it: what is answered at once comes back before `book$` has told the page. */
  function noteBook(book: PodBook): void {
    const miscount = book.places && miscountIn(book.places, placesOf(book.entries));
    if (miscount !== undefined) failures.push(`the account of the book has ${miscount}`);
    noteEvictions(book);
    notePhases(book);
  }

  /** What the agent does by itself, or does not do: pods of workloads come and go, commands are obeyed. */
  function noteExpanded({ pods }: Desired): void {
    const own = new Set([...wanted.values()].map(({ pod }) => pod.metadata.uid));
    const after = pods.filter(({ metadata }) => !own.has(metadata.uid));
    if (after.length === expanded.length && after.every((pod, place) => pod === expanded[place])) return;
    expanded = after;
    writeWanted();
  }
  function noteStopped(pods: readonly Pod[]): void {
    const after = new Set<string>(pods.map(({ metadata }) => metadata.uid));
    if (after.size === stopped.size && [...after].every((uid) => stopped.has(uid))) return;
    stopped = after;
    writeWanted();
  }
  function noteReply({ command, reply }: CommandReply): void {
    if (command.verb !== 'restart' || reply.kind !== 'done') return;
    const all = wantedByUid();
    write({ kind: 'wanted', wanted: new Map([...all].filter(([, { pod }]) => pod.metadata.name !== command.name)) });
    write({ kind: 'wanted', wanted: all });
  }

  const agent$ = defer(() => {
    const sights = new Subject<PodSights>();
    const memory = workloadMemory('/var/lib/rxlet/workloads.json', shown.files);
    const desired$ = plan.workloads === undefined ? sets : expandDesired(sets, sights, memory).pipe(tap(noteExpanded));
    const { report$, housekeeping$, checkpoint$, imageGc$, book$, stopped$, reply$ } = agentOn(
      shown,
      desired$,
      commands,
      nothing,
      nothing,
      undefined,
      imageGc,
      tapeThat(noteBook),
      time.passed,
    );
    write({ kind: 'agent', isUp: true });
    return merge(
      stopped$.pipe(tap(noteStopped)),
      reply$.pipe(tap(noteReply)),
      endless('report$', report$),
      endless('housekeeping$', housekeeping$),
      endless('checkpoint$', checkpoint$),
      imageGc ? endless('imageGc$', imageGc$) : EMPTY,
      endless('book$', book$),
      podSights(book$).pipe(
        tap((seen) => {
          sights.next(seen);
        }),
      ),
    ).pipe(
      finalize(() => {
        write({ kind: 'agent', isUp: false });
        phases = new Map();
      }),
    );
  });

  function perform(step: Happen): void {
    write({ kind: 'step', step });
    switch (step.do) {
      case 'want':
        wanted.set(step.pod % plan.pods.length, plannedPod(plan, step.pod, step.version));
        tell();
        return;
      case 'drop':
        wanted.delete(step.pod % plan.pods.length);
        tell();
        return;
      case 'wantWorkload':
        if (plan.workloads?.[step.workload]) {
          workloads.set(step.workload, plannedWorkload(plan, step.workload, step.version));
          tell();
        }
        return;
      case 'dropWorkload':
        if (workloads.delete(step.workload)) tell();
        return;
      case 'command':
        commands.next({ verb: step.verb, namespace: 'default', name: `p${step.pod % plan.pods.length}` });
        return;
      case 'fill':
        fill(step.pod);
        return;
      case 'fillImageDisk':
        if (!plan.images) return;
        foreign = Math.round((imageGcOf(plan.images).capacity * step.percent) / 100);
        later(step.for, () => {
          foreign = 0;
        });
        return;
      case 'fillMemory':
        timer(0, OOM_PAUSE)
          .pipe(takeUntil(timer(step.for)))
          .subscribe({ next: killForMemory, error: fail });
        return;
      case 'crash':
        agents.next(false);
        later(step.for, () => {
          agents.next(true);
        });
        return;
      case 'restartRuntime':
        world.stopRuntime();
        later(step.for, world.startRuntime);
        return;
      case 'forgetSandboxes':
        world.stopRuntime();
        world.wipeRuntime();
        world.startRuntime();
        return;
      case 'reboot':
        world.reboot();
        return;
      case 'cutEvents':
        world.cutEvents();
        return;
      case 'fullDisk':
      case 'readOnlyDisk':
        world.disk.setState(step.do === 'fullDisk' ? 'full' : 'readOnly');
        later(step.for, () => {
          world.disk.setState('ok');
        });
        return;
      case 'kill': {
        const running = world.running();
        const victim = running[step.which % running.length];
        if (victim) world.kill(victim.id);
        return;
      }
      case 'killSandbox': {
        const ready = world.sandboxes().filter(({ state }) => state === 'ready');
        const victim = ready[step.which % ready.length];
        if (victim) world.killSandbox(victim.id);
        return;
      }
      case 'setClock':
        time.setClock(step.by);
        return;
      default:
        assertNever(step);
    }
  }

  /** The volume of this pod, or else of the next that has one. */
  function fill(pod: number): void {
    const { disk } = world;
    const uids = plan.pods.map((_pod, index) => wanted.get((pod + index) % plan.pods.length)?.pod.metadata.uid ?? '');
    const path = uids.map(fillingOf).find((one) => disk.typeOf(one.replace(/\/[^/]*$/, '')) === 'directory');
    if (path !== undefined) disk.put(path, { type: 'file', mode: 0o644, content: 'x'.repeat(TOO_MUCH) });
  }

  /** As the kernel: the process of the greatest score goes, the newest where several have it. */
  function killForMemory(): void {
    const scoreOf = ({ config }: SimulatedContainer): number => config.linux?.resources?.oomScoreAdj ?? 0;
    const [victim] = world.running().toSorted((a, b) => scoreOf(b) - scoreOf(a) || b.startedAt - a.startedAt);
    if (!victim) return;
    write({ kind: 'oomKill', id: victim.id });
    world.exit(victim.id, KILLED, 'OOMKilled');
  }

  function later(after: number, act: () => void): void {
    timer(after).subscribe({ next: act, error: fail });
  }

  let settledAt: number | undefined;
  let missing: readonly string[] = [];
  try {
    time.within(() => {
      world.happening$.pipe(takeUntil(done)).subscribe({
        next: (happening) => {
          write({ kind: 'happening', happening });
        },
        error: fail,
      });
      agents
        .pipe(
          switchMap((isUp) => (isUp ? agent$ : EMPTY)),
          takeUntil(done),
        )
        .subscribe({ error: fail });
      later(0, () => {
        tell();
        agents.next(true);
      });
      let at = 0;
      for (const { after, ...step } of plan.steps) {
        at += after;
        later(at, () => {
          perform(step);
        });
      }
      let well = 0;
      timer(calmAt + LOOK, LOOK)
        .pipe(takeUntil(merge(done, timer(calmAt + BOUND))))
        .subscribe({
          next: () => {
            missing = missingIn(world, wantedByUid(), {
              phases,
              statuses,
              entries,
              workloads: [...workloads.values()],
              images: plan.images,
            });
            well = missing.length === 0 ? well + 1 : 0;
            if (well < LOOKS) return;
            settledAt = time.passed() - (LOOKS - 1) * LOOK;
            done.next(undefined);
          },
          error: fail,
          complete: () => {
            done.next(undefined);
          },
        });
      time.passToEnd();
    });
  } catch (error) {
    fail(error);
  }
  return {
    plan,
    entries,
    calls: world.calls,
    calmAt,
    ...(settledAt === undefined ? {} : { settledAt }),
    missing,
    failures,
  };
}

/** Lets everything through as it is, and tells of every page. */
function tapeThat(notes: (book: PodBook) => void): Tape {
  const same = <Part>(part: Part): Part => part;
  return {
    begin: nothing,
    port: (_name, port) => port,
    context: same,
    objects: same,
    looks: same,
    actions: same,
    probe: same,
    turned: (before, _event, { book }) => {
      if (book !== before) notes(book);
    },
  };
}

/** Where nobody gives up waiting, as for a pull or a hook, no fault is for ever: it would not stop with the others. */
function inTheEnd({ name, request }: SimulatedCall, fault: Fault | undefined): Fault | undefined {
  const isAwaited = name === 'PullImage' || (name === 'ExecSync' && (request as ExecSyncRequest).timeout === 0);
  if (!isAwaited) return fault;
  if (fault?.kind === 'hang') return { kind: 'slow', by: LONG };
  return fault?.kind === 'loseAnswer' ? { ...fault, error: 'unavailable' } : fault;
}

/** How fast the calls of a world are. */
function paceOf({ answers }: WorldPlan): Pick<SimulatedNodeOptions, 'answers' | 'latencies'> {
  if (answers === undefined) return {};
  const timeless = Object.fromEntries(CALL_NAMES.map((name): [string, Latency] => [name, [0, 0]]));
  return { answers: 'inStep', ...(answers === 'timeless' ? { latencies: timeless } : {}) };
}

/** What a step takes that goes on beside those after it. */
function longestPause({ steps }: WorldPlan): number {
  return Math.max(0, ...steps.map((step) => ('for' in step ? step.for : 0)));
}

function nothing(): undefined {
  return undefined;
}

/** Where an account that was kept from page to page differs from one that is taken anew. */
function miscountIn(kept: Places, anew: Places): string | undefined {
  const plain = ({ names, pending, used = {}, ported }: Places): Readonly<Record<string, string>> => ({
    names: [...names]
      .map(([name, uids]) => `${name}: ${uids.join()}`)
      .sort()
      .join(),
    pending: [...pending.keys()].sort().join(),
    used: Object.entries(used)
      .filter(([, amount]) => amount !== 0)
      .map(String)
      .sort()
      .join(),
    ported: [...ported.keys()].sort().join(),
  });
  const [mine, other] = [plain(kept), plain(anew)];
  const wrong = Object.keys(mine).filter((part) => mine[part] !== other[part]);
  return wrong.length === 0 ? undefined : wrong.map((part) => `${part} ${mine[part]} for ${other[part]}`).join('; ');
}
