import { combineLatest, defer, finalize, ignoreElements, merge, NEVER, of, Subject, tap, type Observable } from 'rxjs';
import type { RunConfig } from '../../model/config/run-config.ts';
import type { PodCommand } from '../../model/pod-command.ts';
import type { PodSights } from '../../model/workloads/pod-sight.ts';
import type { SimulatedNode } from '../../simulation/simulated-node.ts';
import { expandDesired } from '../../sources/expand-desired.ts';
import { manifestStream, type ManifestPorts } from '../../sources/file/manifest-stream.ts';
import { holdPods } from '../../sources/hold-pods.ts';
import { mergeSources } from '../../sources/merge-sources.ts';
import { DEAF } from '../../streams/ports/meter.ts';
import { UNWATCHED } from '../../streams/ports/tracer.ts';
import { podSights } from '../../streams/workloads/pod-sights.ts';
import { composeAgent } from '../compose-agent.ts';
import { manifestMemory } from '../manifest-memory.ts';
import { stopMemory } from '../stop-memory.ts';
import { workloadMemory } from '../workload-memory.ts';
import type { Chronicle } from './chronicle.ts';
import { simulatedEdges, type Surroundings } from './simulated-edges.ts';

export interface SimulatedAgentOptions {
  readonly run: RunConfig;
  readonly node: SimulatedNode;
  readonly manifests: Pick<ManifestPorts, 'watch' | 'scan'>;
  readonly command$: Observable<PodCommand>;
  readonly surroundings: Omit<Surroundings, 'meter' | 'trace' | 'http'>;
  readonly chronicle: Chronicle;
}

/**
 * The very agent of `rxlet run`, from its start on what the node has kept: subscribing starts it, unsubscribing is its
 * crash. Emits nothing, and never ends by itself; the chronicle hears what it does.
 */
export function simulatedAgent(options: SimulatedAgentOptions): Observable<never> {
  const { run, node, manifests, command$, surroundings, chronicle } = options;
  return defer(() => {
    const { config, rootDir, nodeName } = run;
    const { files } = node;
    const sights = new Subject<PodSights>();
    const manifest$ = manifestStream(
      { path: config.staticPodPath, nodeName, fileCheckFrequency: config.fileCheckFrequency },
      { ...manifests, store: manifestMemory(`${rootDir}/manifests.json`, files) },
    );
    const desired$ = expandDesired(manifest$, sights, workloadMemory(`${rootDir}/workloads.json`, files));
    const sources = holdPods(
      mergeSources([{ name: 'file', desired$ }]),
      command$,
      stopMemory(`${rootDir}/stopped.json`, files),
    );
    const edges = simulatedEdges(run, node, {
      ...surroundings,
      http: { get: () => of(200) },
      meter: DEAF,
      trace: UNWATCHED,
    });
    const agent = composeAgent(edges, sources, { update: run.update, drain$: NEVER });
    chronicle.agent(true);
    return merge(
      agent.report$,
      agent.housekeeping$,
      agent.checkpoint$,
      agent.plegHealth$,
      agent.note$.pipe(tap(chronicle.note)),
      agent.book$.pipe(tap(chronicle.book)),
      combineLatest([sources.problem$.pipe(tap(chronicle.problems)), sources.stopped$.pipe(tap(chronicle.stopped))]),
      podSights(agent.book$).pipe(
        tap((seen) => {
          sights.next(seen);
        }),
      ),
    ).pipe(
      finalize(() => {
        chronicle.agent(false);
      }),
      ignoreElements(),
    );
  });
}
