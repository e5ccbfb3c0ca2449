import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  mergeMap,
  of,
  startWith,
  Subject,
  subscribeOn,
  switchMap,
  take,
  takeWhile,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import type { RunConfig } from '../../model/config/run-config.ts';
import type { PodCommand } from '../../model/pod-command.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import { simulatedNode } from '../../simulation/simulated-node.ts';
import { virtualTime, type VirtualTime } from '../../simulation/virtual-time.ts';
import type { FileReading } from '../../sources/file/look-at-file.ts';
import { behaviourOf } from './behaviour.ts';
import { callOwners } from './call-owners.ts';
import { chronicle } from './chronicle.ts';
import { describeStep } from './describe-step.ts';
import { judgeExpectation } from './judge-expectation.ts';
import { manifestFolder } from './manifest-folder.ts';
import type { Outcome, Verdict } from './outcome.ts';
import { performStep, type Stage } from './perform-step.ts';
import type { Script, Step } from './script.ts';
import { scriptedFaults } from './scripted-faults.ts';
import { simulatedAgent } from './simulated-agent.ts';
import { simulatedProbe } from './simulated-probe.ts';

export interface LifePlan {
  readonly run: RunConfig;
  readonly script: Script;
  /** What lies in the folder at the beginning. */
  readonly manifests: readonly FileReading[];
  /** Where a manifest of a name is put that is not there yet. */
  readonly pathOf: (name: string) => string;
  /** Milliseconds. */
  readonly span: number;
  readonly seed: number;
}

/** The clock begins a day after 1970: it can be set back, and nanoseconds are still whole numbers. */
const BEGINNING = 24 * 3_600_000;

/** Milliseconds for which a process is deaf that simulates; those of the run that pass between two looks at the real clock. */
const TURN = 50;
const STEP = 10_000;

/**
 * Lets an agent live on a simulated node for a while, in virtual time: emits what came of it, once, and completes.
 * The same plan has the same outcome, to the bit. Errors where a stream of the agent does that must never fail.
 */
export function simulateLife(plan: LifePlan): Observable<Outcome> {
  return defer(() => {
    const time = virtualTime(BEGINNING);
    const { story$, tell } = time.within(() => storyOf(plan, time));
    const passing$ = timer(0, 0).pipe(
      map(() => {
        const until = performance.now() + TURN;
        time.within(() => {
          do time.passTo(Math.min(plan.span, time.passed() + STEP));
          while (time.passed() < plan.span && performance.now() < until);
        });
        return time.passed();
      }),
      takeWhile((passed) => passed < plan.span),
      ignoreElements(),
    );
    // The story never ends by itself: its time does.
    const outcome$ = concat(
      passing$,
      defer(() => of(time.within(tell))),
    );
    return merge(story$.pipe(subscribeOn(time.scheduler)), outcome$).pipe(take(1));
  });
}

interface Story {
  /** Never ends by itself, and emits nothing. */
  readonly story$: Observable<never>;
  readonly tell: () => Outcome;
}

function storyOf({ run, script, manifests, pathOf, span, seed }: LifePlan, time: VirtualTime): Story {
  const { nodeName } = run;
  const { passed } = time;
  const written = chronicle(nodeName, passed);
  const { learn, ownerOf: whoseIs } = callOwners();
  const scripted = scriptedFaults({ script, nodeName, passed, whoseIs });
  const node = simulatedNode({
    seed,
    remembers: false,
    images: script.images,
    events: script.node.events,
    cgroupDriver: run.config.cgroupDriver === 'systemd' ? 'SYSTEMD' : 'CGROUPFS',
    containerBehaviour: behaviourOf(script, nodeName, seed + 2),
    faults: (call, random) => {
      written.call(call.name, whoseIs(call));
      return scripted.faults(call, random);
    },
  });
  const { world } = node;
  furnish(world.disk, run);

  const folder = manifestFolder(manifests);
  const agents = new Subject<boolean>();
  const commands = new Subject<PodCommand>();
  let isUp = true;
  const stage: Stage = {
    world,
    folder,
    pathOf,
    nodeName,
    paths: run,
    addFault: scripted.add,
    setClock: time.setClock,
    setAgent: (next) => {
      isUp = next;
      agents.next(next);
    },
    command: (command) => {
      if (!isUp) return 'no agent runs';
      commands.next(command);
      return undefined;
    },
  };

  const done: Outcome['steps'][number][] = [];
  const verdicts: (Verdict & { readonly nth: number })[] = [];
  const seconds = (milliseconds: number): number => Number((milliseconds / 1_000).toFixed(3));

  function perform(step: Step): Observable<() => void> {
    const { problem, later$ } = performStep(step, stage);
    done.push({ at: seconds(step.at), text: describeStep(step), ...(problem === undefined ? {} : { problem }) });
    return later$;
  }

  function judge(nth: number): void {
    const expectation = script.expectations[nth];
    if (!expectation) return;
    const judged = judgeExpectation(expectation, written.sight(), nodeName);
    verdicts.push({ nth, at: seconds(passed()), ...judged, line: expectation.position.line });
  }

  const agent$ = simulatedAgent({
    run,
    node,
    manifests: folder.ports,
    command$: commands,
    surroundings: {
      machine: {
        memoryCapacity: script.node.memory,
        capacity: { cpus: script.node.cpus, memory: script.node.memory, disk: script.node.disk, hugePages: {} },
        appArmor: false,
        hugePageSizes: [],
        cgroupV2: true,
        swapController: true,
        thermalThrottlePaths: [],
        addresses: ['192.0.2.2'],
      },
      monotonic: passed,
      random: seededRandom(seed + 3),
      probe: simulatedProbe({ script, nodeName, world, passed }),
    },
    chronicle: written,
  });

  const story$ = merge(
    world.happening$.pipe(
      tap((happening) => {
        learn(happening);
        written.happening(happening);
      }),
    ),
    agents.pipe(
      startWith(true),
      switchMap((up) => (up ? agent$ : EMPTY)),
    ),
    ...script.steps.map((step) =>
      timer(step.at).pipe(
        mergeMap(() => perform(step)),
        tap((act) => {
          act();
        }),
      ),
    ),
    ...script.expectations.flatMap(({ at }, nth) =>
      at === undefined || at >= span
        ? []
        : [
            timer(at).pipe(
              tap(() => {
                judge(nth);
              }),
            ),
          ],
    ),
  ).pipe(ignoreElements());

  return {
    story$,
    tell: () => {
      script.expectations.forEach((_one, nth) => {
        if (!verdicts.some((verdict) => verdict.nth === nth)) judge(nth);
      });
      const expectations = verdicts.toSorted((a, b) => a.nth - b.nth).map(({ nth: _nth, ...verdict }) => verdict);
      return { seed, seconds: seconds(span), ...written.tell(), steps: done, expectations };
    },
  };
}

/** Files of a machine that pods may get something from. */
function furnish(disk: ReturnType<typeof simulatedNode>['world']['disk'], { config, rootDir }: RunConfig): void {
  for (const folder of [rootDir, `${rootDir}/pods`, config.podLogsDir, '/var/log/containers'])
    disk.put(folder, { type: 'directory', mode: 0o755 });
  if (config.resolvConf !== '')
    disk.put(config.resolvConf, { type: 'file', mode: 0o644, content: 'nameserver 192.0.2.53\n' });
}
