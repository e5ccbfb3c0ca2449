import { concat, of, type Observable } from 'rxjs';
import type { UpdateMode } from '../model/rxlet-annotations.ts';
import { podActions } from '../runtime/pod-actions.ts';
import { unmountVolumes } from '../runtime/volumes/tear-down-volumes.ts';
import type { PerformContext } from '../runtime/perform-context.ts';
import { removeContainer } from '../runtime/steps/remove-container.ts';
import type { PodSources } from '../sources/merge-sources.ts';
import { agent, type Agent } from '../streams/agent.ts';
import type { AgentTimings, World } from '../streams/agent/world.ts';
import { meterListing } from '../streams/pleg/meter-listing.ts';
import { meterProbe } from '../streams/probes/meter-probe.ts';
import { meterActions } from '../streams/workers/meter-actions.ts';
import type { Edges } from './edges.ts';

/** Milliseconds. The kubelet's, but for the relist: while the runtime gives hints it is only the safety net. */
const TIMINGS: AgentTimings = {
  pleg: {
    period: 1_000,
    listeningPeriod: 20_000,
    cooldown: 100,
    threshold: 180_000,
    deadline: 10_000,
    patience: 1_000,
    patienceWithBeginnings: 3_000,
  },
  statusPeriod: 5_000,
  housekeepingPeriod: 60_000,
};

/** The agent on a node, be it a real or a simulated one. Nothing happens until someone subscribes to its `report$`. */
export function composeAgent(
  {
    context: ground,
    observer,
    probe,
    hint$,
    listening$,
    hostIps,
    admission,
    cgroupLayout,
    checkpoints,
    rotation,
    localUsage,
    imageGc,
    kept,
    meter,
    trace,
    tape,
  }: Edges,
  sources: Pick<PodSources, 'batch$' | 'objects$' | 'allSeen$'>,
  { update, drain$ }: { readonly update: UpdateMode; readonly drain$: Observable<unknown> },
): Agent {
  const objects$ = tape?.objects(sources.objects$) ?? sources.objects$;
  const context: PerformContext = { ...ground, objects$ };
  const facts: World['facts'] = {
    runtimeName: context.facts.runtimeName,
    hostIps,
    recursiveReadOnly: context.facts.recursiveReadOnly ?? new Set(),
    update,
    ...(admission ? { node: admission } : {}),
  };
  tape?.begin({ context, book: facts, kept });
  const { listPods, observePod } = tape?.looks(observer) ?? observer;
  const actions = podActions(observer, tape?.context(context) ?? context);
  return agent(
    {
      batch$: sources.batch$,
      objects$,
      allSeen$: sources.allSeen$,
      hint$,
      listening$,
      drain$,
      cri: context.cri,
      files: context.files,
      paths: context.paths,
      monotonic: context.monotonic,
      unmountVolumes: (uid) => unmountVolumes(uid, context),
      listPods: meterListing(listPods, meter),
      observePod,
      revisions: context.revisions,
      facts,
      checkpoints,
      ...(context.cgroups && cgroupLayout ? { cgroups: { port: context.cgroups, layout: cgroupLayout } } : {}),
      ...(rotation ? { rotation } : {}),
      ...(localUsage ? { localUsage } : {}),
      ...(imageGc
        ? {
            imageGc: {
              ...imageGc,
              removeContainer: ({ pod, container }) =>
                concat(removeContainer(pod, container, false, context), of(undefined)),
              nodeName: context.facts.nodeName,
            },
          }
        : {}),
      backoff: context.backoff,
      kept,
      actions: meterActions(tape?.actions(actions) ?? actions, meter),
      probe: meterProbe(tape?.probe(probe) ?? probe, meter),
      meter,
      trace,
      ...(tape && { turned: tape.turned }),
      random: context.random,
    },
    TIMINGS,
  );
}
