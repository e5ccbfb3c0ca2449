import { combineLatest, merge, of, startWith, takeUntil, tap, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { POD_NAME, POD_UID } from '../../../src/model/cri/labels.ts';
import type { Problem } from '../../../src/model/desired.ts';
import { simulatedNode, type World } from '../../../src/simulation/simulated-node.ts';
import { manifestStream } from '../../../src/sources/file/manifest-stream.ts';
import { mergeSources } from '../../../src/sources/merge-sources.ts';
import { UNKNOWN_RUNTIME } from '../../../src/streams/runtime-state/runtime-state.ts';
import type { PodView } from '../../../src/streams/view/node-view.ts';
import { viewNode } from '../../../src/streams/view/view-node.ts';
import { manifestFolder } from '../../corpus/manifest-folder.ts';
import { agentOn, keptInMemory, NO_BOOK } from '../../corpus/recorded-agent.ts';
import { FACTS, furnish, imagesOf, MANIFESTS } from '../../corpus/recorded-node.ts';

/** What came of one spoiled file after {@link WAVE}. */
interface Fate {
  readonly origin: string;
  readonly text: string;
  readonly problems: readonly Problem[];
  /** Every pod of the node. */
  readonly pods: readonly PodView[];
}

interface FuzzLife {
  readonly fates: readonly Fate[];
  /** Errors and completions of the agent's streams. */
  readonly failures: readonly string[];
  /** Everything that was done to the pod beside the spoiled ones after it ran, besides looking at it. */
  readonly disturbances: readonly string[];
  readonly bystanderRuns: boolean;
}

/** So many files lie in the folder at once; each wave puts other texts in their place. */
const SLOTS = 25;
/** Milliseconds from one wave to the next: pods get going, crash, and are told of. */
const WAVE = 3_000;
const START = 5_000;

const BYSTANDER = `apiVersion: v1
kind: Pod
metadata: {name: bystander, namespace: quiet}
spec:
  terminationGracePeriodSeconds: 5
  containers:
  - {name: main, image: "busybox:1.35", ports: [{containerPort: 80, hostPort: 8099}], volumeMounts: [{name: v, mountPath: /v}]}
  volumes: [{name: v, emptyDir: {}}]
`;

/** Lets a whole agent live with a folder in which every file is replaced by rubbish again and again. */
export function liveWithRubbish(texts: readonly string[]): FuzzLife {
  return new TestScheduler(() => undefined).run(({ flush }) => {
    const failures: string[] = [];
    const fail = (error: unknown): void => {
      failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    };
    const node = simulatedNode({ seed: 1, images: imagesOf([]) });
    furnish(node.world.disk);
    const folder = manifestFolder(new Map([['bystander.yaml', Buffer.from(BYSTANDER)]]));
    const desired$ = manifestStream(
      { path: MANIFESTS, nodeName: FACTS.nodeName, fileCheckFrequency: 20_000 },
      folder.ports,
    );
    const sources = mergeSources([{ name: 'file', desired$ }]);
    const running = agentOn(node, sources, 'default', keptInMemory(), {
      http: { get: () => of(200) },
      probe: () => of({ result: 'success', output: '' }),
    });
    let now: { readonly pods: readonly PodView[]; readonly problems: readonly Problem[] } = { pods: [], problems: [] };
    const sight$ = combineLatest([running.book$.pipe(startWith(NO_BOOK)), sources.problem$]).pipe(
      tap(([book, problems]) => {
        const { pods } = viewNode({ book, problems, runtime: UNKNOWN_RUNTIME, pleg: { healthy: true, message: '' } });
        now = { pods, problems };
      }),
    );
    const waves = Math.ceil(texts.length / SLOTS);
    const end = START + (waves + 1) * WAVE;
    merge(sight$, running.report$, running.housekeeping$, running.checkpoint$)
      .pipe(takeUntil(timer(end)))
      .subscribe({ error: fail });

    const fates: Fate[] = [];
    let put: readonly (readonly [origin: string, text: string])[] = [];
    for (let wave = 0; wave <= waves; wave += 1)
      timer(START + wave * WAVE).subscribe({
        next: () => {
          for (const [origin, text] of put)
            fates.push({
              origin,
              text,
              pods: now.pods,
              problems: now.problems.filter((each) => each.origin === origin),
            });
          const next = texts.slice(wave * SLOTS, (wave + 1) * SLOTS);
          put = next.map((text, slot) => [`${MANIFESTS}/m${slot}.yaml`, text]);
          next.forEach((text, slot) => {
            folder.put(`m${slot}.yaml`, Buffer.from(text));
          });
        },
        error: fail,
      });
    try {
      flush();
    } catch (error) {
      fail(error);
    }
    return { fates, failures, ...bystanderOf(node.world) };
  });
}

function bystanderOf(world: World): Pick<FuzzLife, 'disturbances' | 'bystanderRuns'> {
  const container = world.running().find(({ config }) => config.labels?.[POD_NAME] === `bystander-${FACTS.nodeName}`);
  const uid = container?.config.labels?.[POD_UID] ?? '';
  const names = [uid, container?.id ?? '', container?.sandboxId ?? ''];
  const isOfIt = (thing: unknown): boolean => names.some((name) => name !== '' && JSON.stringify(thing).includes(name));
  const calls = world.calls.filter(({ at, name, request }) => at >= START && !LOOKS.test(name) && isOfIt(request));
  const happened = world.history.filter(
    (happening) => happening.at >= START && happening.container?.id === container?.id,
  );
  return {
    bystanderRuns: container !== undefined,
    disturbances: [
      ...calls.map(({ at, name, request }) => `${at}: ${name} ${JSON.stringify(request)}`),
      ...happened.map(({ at, kind }) => `${at}: ${kind}`),
    ],
  };
}

const LOOKS =
  /^(?:List|Status|Version|ImageStatus|ContainerStatus|PodSandboxStatus|GetContainerEvents|files\.(?:read|list|stat|exists|type|look))/;
