import {
  asyncScheduler,
  combineLatest,
  defer,
  merge,
  startWith,
  Subject,
  switchMap,
  takeUntil,
  tap,
  timer,
  type Observable,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type {
  ContainerUser,
  CreateContainerRequest,
  RunPodSandboxRequest,
  StopContainerRequest,
} from '../../src/model/cri/api.ts';
import { POD_NAME } from '../../src/model/cri/labels.ts';
import type { Problem } from '../../src/model/desired.ts';
import { simulatedNode, type SimulatedNode } from '../../src/simulation/simulated-node.ts';
import { manifestStream } from '../../src/sources/file/manifest-stream.ts';
import { mergeSources } from '../../src/sources/merge-sources.ts';
import type { PlegHealth } from '../../src/streams/pleg/pleg.ts';
import { UNKNOWN_RUNTIME, type RuntimeState } from '../../src/streams/runtime-state/runtime-state.ts';
import type { PodView } from '../../src/streams/view/node-view.ts';
import { viewNode } from '../../src/streams/view/view-node.ts';
import { manifestFolder, type ManifestFolder } from './manifest-folder.ts';
import type { CaseRecord, CorpusCase, RecordedStep } from './record.ts';
import { agentOn, keptInMemory, NO_BOOK } from './recorded-agent.ts';
import { recordedBehaviour } from './recorded-behaviour.ts';
import { asContainerd, FACTS, furnish, imagesOf, MANIFESTS } from './recorded-node.ts';

/** What was seen of all pods from one moment on. */
export interface Sight {
  /** Milliseconds since the manifests appeared. */
  readonly at: number;
  readonly pods: readonly PodView[];
}

interface Request<T> {
  readonly at: number;
  readonly request: T;
}

/** A command that was run, by when it was asked for and when it was answered. */
interface Exec {
  readonly askedAt: number;
  readonly at: number;
  readonly containerId: string;
  readonly command: readonly string[];
  readonly exitCode: number;
}

/** What came of a case with our agent. */
export interface CaseLife {
  readonly sandboxes: readonly Request<RunPodSandboxRequest>[];
  readonly containers: readonly Request<CreateContainerRequest>[];
  readonly stops: readonly { readonly at: number; readonly containerId: string; readonly timeout: number }[];
  readonly execs: readonly Exec[];
  readonly sights: readonly Sight[];
  /** Everything that was wrong with the manifests at any time before they were taken away. */
  readonly problems: readonly Problem[];
  /** `name#attempt` by container id. */
  readonly containerNames: ReadonlyMap<string, string>;
  /** `namespace/name` of the pod, by container id. */
  readonly containerPods: ReadonlyMap<string, string>;
  readonly tagById: ReadonlyMap<string, string>;
  readonly failures: readonly string[];
  /** Steps of the recording that the simulated node cannot take. */
  readonly unknownSteps: readonly string[];
}

const MOST_CALLS = 50_000;

/** Milliseconds that are lived through after the manifests are taken away. */
const AFTERWARDS = 130_000;

/** The last moment, in milliseconds, at which a state of ours may stand for the last one of the recording. */
export function endOf({ record }: CorpusCase): number {
  return record.removedAt * 1_000 + slackOf(record.removedAt * 1_000);
}

/** The recording machine was slow, and back-off is counted from ends: so times differ by a part, and by some seconds. */
export function slackOf(milliseconds: number): number {
  return 4_000 + milliseconds * 0.2;
}

/** Lives through a case in virtual time: the whole agent, from the bytes of its manifests to calls and statuses. */
export function liveCase(corpusCase: CorpusCase): CaseLife {
  return new TestScheduler(() => undefined).run(({ flush }) => {
    const { record } = corpusCase;
    const behaviour = recordedBehaviour(record);
    const failures: string[] = [];
    const halt = new Subject<undefined>();
    const fail = (error: unknown): void => {
      failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    };
    const node: SimulatedNode = simulatedNode({
      seed: 1,
      images: imagesOf(imageNames(corpusCase)),
      containerBehaviour: behaviour.containers,
      faults: (call) => {
        // An agent that goes round in circles would never let virtual time pass.
        if (node.world.calls.length === MOST_CALLS) {
          failures.push(`more than ${MOST_CALLS} calls to the runtime and the disk, the last one ${call.name}`);
          halt.next(undefined);
        }
        return behaviour.faults(call);
      },
    });
    furnish(node.world.disk);
    node.world.happening$.subscribe({
      next: (happening) => {
        behaviour.leaveLog(happening, node.world.disk);
      },
      error: fail,
    });
    const execs: Exec[] = [];
    const noting: SimulatedNode['cri'] = {
      ...node.cri,
      execSync: (request) =>
        defer(() => {
          const askedAt = asyncScheduler.now();
          return node.cri.execSync(request).pipe(
            tap(({ exitCode = 0 }) => {
              const { containerId = '', cmd: command = [] } = request;
              execs.push({ askedAt, at: asyncScheduler.now(), containerId, command, exitCode });
            }),
          );
        }),
    };
    const { cri, tagById } = asContainerd(noting, (container) => userOf(record, container));
    const folder = manifestFolder(corpusCase.manifests);
    const kept = keptInMemory();
    const restarts = new Subject<number>();

    const until = endOf(corpusCase);
    const sights: Sight[] = [];
    const problems = new Map<string, Problem>();
    const unknownSteps: string[] = [];

    function lifeOfAgent(): Observable<unknown> {
      const desired$ = manifestStream(
        { path: MANIFESTS, nodeName: FACTS.nodeName, fileCheckFrequency: 20_000 },
        folder.ports,
      );
      const sources = mergeSources([{ name: 'file', desired$ }]);
      const running = agentOn(
        { ...node, cri: { ...node.cri, ...cri } },
        sources,
        record.case.kubeletConfig,
        kept,
        behaviour,
      );
      const sight$ = combineLatest([running.book$.pipe(startWith(NO_BOOK)), sources.problem$]).pipe(
        tap(([book, wrong]) => {
          const at = asyncScheduler.now();
          if (at < until) for (const problem of wrong) problems.set(JSON.stringify(problem), problem);
          const { pods } = viewNode({ book, problems: wrong, runtime: RUNTIME, pleg: HEALTHY });
          sights.push({ at, pods });
        }),
      );
      return merge(sight$, running.report$, running.housekeeping$, running.checkpoint$);
    }

    restarts
      .pipe(
        startWith(0),
        switchMap((pause) => timer(pause).pipe(switchMap(() => lifeOfAgent()))),
        takeUntil(merge(timer(until + AFTERWARDS), halt)),
      )
      .subscribe({ error: fail });

    // An agent that lives on when nobody listens any more would let virtual time pass for ever.
    timer(until + AFTERWARDS + 1_000).subscribe({
      next: () => {
        const { length } = node.world.calls;
        asyncScheduler.schedule(() => {
          if (node.world.calls.length > length) throw new Error('the agent goes on after it was unsubscribed from');
        }, 10_000);
      },
      error: fail,
    });

    let texts = 0;
    for (const step of record.steps ?? []) {
      const text = takesText(step) ? corpusCase.stepTexts[texts++] : undefined;
      timer(step.t * 1_000).subscribe({
        next: () => {
          if (!takeStep(step, text, folder, node, restarts)) unknownSteps.push(`${step.op} ${step.args.join(' ')}`);
        },
        error: fail,
      });
    }
    timer(until).subscribe({ next: folder.clear, error: fail });
    try {
      flush();
    } catch (error) {
      fail(error);
    }
    return { ...callsOf(node), tagById, execs, sights, problems: [...problems.values()], failures, unknownSteps };
  });
}

const RUNTIME: RuntimeState = { ...UNKNOWN_RUNTIME, ready: true, networkReady: true, name: 'containerd' };
const HEALTHY: PlegHealth = { healthy: true, message: '' };

function takesText({ op }: RecordedStep): boolean {
  return op === 'write' || op === 'modify';
}

/** Says whether it knows how. */
function takeStep(
  { op, args }: RecordedStep,
  text: Uint8Array | undefined,
  folder: ManifestFolder,
  { cri, world }: SimulatedNode,
  restarts: Subject<number>,
): boolean {
  const what = String(args[0] ?? '');
  switch (op) {
    case 'write':
    case 'modify':
      if (!text) return false;
      folder.put(what, text);
      return true;
    case 'remove':
      folder.remove(what);
      return true;
    case 'restart-kubelet':
      restarts.next(Number(args[0]) * 1_000);
      return true;
    case 'snap':
    case 'poll':
      return true;
    case 'sh': {
      const pod = /crictl .*io\.kubernetes\.pod\.name=(\S+).*rm -f/.exec(what)?.[1];
      if (pod === undefined) return folder.shell(what);
      for (const { id, config } of world.running())
        if (config.labels?.[POD_NAME] === pod) cri.removeContainer({ containerId: id }).subscribe();
      return true;
    }
    default:
      return false;
  }
}

function imageNames({ manifests, stepTexts }: CorpusCase): readonly string[] {
  const texts = [...manifests.values(), ...stepTexts].map((bytes) => bytes.toString('utf8'));
  return texts.flatMap((text) =>
    [...text.matchAll(/\b(?:image|reference)"?: *"?([^"\s,}]+)/g)].map(([, name = '']) => name),
  );
}

function userOf({ pod, others = [] }: CaseRecord, container: string): ContainerUser | undefined {
  for (const record of [{ pod }, ...others]) {
    const status = record.pod?.status as Readonly<Record<string, unknown>> | undefined;
    for (const list of ['containerStatuses', 'initContainerStatuses']) {
      const statuses = (status?.[list] ?? []) as readonly { readonly name: string; readonly user?: ContainerUser }[];
      const user = statuses.find(({ name }) => name === container)?.user;
      if (user) return user;
    }
  }
  return undefined;
}

function callsOf({
  world,
}: SimulatedNode): Omit<CaseLife, 'tagById' | 'execs' | 'sights' | 'problems' | 'failures' | 'unknownSteps'> {
  const called = <T>(call: string): readonly Request<T>[] =>
    world.calls.filter(({ name }) => name === call).map(({ at, request }) => ({ at, request: request as T }));
  const names = new Map<string, string>();
  const pods = new Map<string, string>();
  for (const { container, sandbox } of world.history) {
    if (!container) continue;
    const pod = sandbox.config.metadata;
    pods.set(container.id, `${pod?.namespace ?? ''}/${pod?.name ?? ''}`);
    const { name = '', attempt = 0 } = container.config.metadata ?? {};
    names.set(container.id, attempt === 0 ? name : `${name}#${attempt}`);
  }
  return {
    sandboxes: called<RunPodSandboxRequest>('RunPodSandbox'),
    containers: called<CreateContainerRequest>('CreateContainer'),
    stops: called<StopContainerRequest>('StopContainer').map(({ at, request: { containerId = '', timeout = 0 } }) => ({
      at,
      containerId,
      timeout,
    })),
    containerNames: names,
    containerPods: pods,
  };
}
