import { asyncScheduler } from 'rxjs';
import type { ContainerStats, ContainerStatsFilter, PodSandboxStats } from '../model/cri/api.ts';
import type { CriStats } from '../streams/ports/cri-stats.ts';
import { containerMatches, listedContainer, listedSandbox } from './answers.ts';
import type { SimulatedContainer, SimulatedSandbox } from './node-objects.ts';
import type { ProcessUse } from './process-script.ts';
import { asks, type RuntimeParts } from './runtime-parts.ts';

type StatsCalls = Pick<CriStats, 'listContainerStats' | 'listPodSandboxStats'>;

/** Of a process of which the script tells nothing: a thousandth of a core and a MiB of memory. */
const USE: ProcessUse = { cpu: 0.001, memory: 1024 * 1024 };

/** What the containers use that run now, by what their scripts say. */
export function statsCalls({ calls, machine }: RuntimeParts): StatsCalls {
  const { containers, sandboxes, scriptOf } = machine;

  function statsOf(container: SimulatedContainer): ContainerStats {
    const { id, metadata, labels, annotations } = listedContainer(container);
    const timestamp = asyncScheduler.now() * 1e6;
    const { cpu, memory } = scriptOf(container.id).uses ?? USE;
    return {
      attributes: { id, metadata, labels, annotations },
      cpu: {
        timestamp,
        usageCoreNanoSeconds: { value: Math.round(cpu * Math.max(0, timestamp - container.startedAt)) },
        usageNanoCores: { value: Math.round(cpu * 1e9) },
      },
      memory: {
        timestamp,
        workingSetBytes: { value: memory },
        usageBytes: { value: memory },
        rssBytes: { value: memory },
      },
    };
  }

  function running(filter: ContainerStatsFilter = {}): readonly ContainerStats[] {
    return [...containers.values()]
      .filter(({ state }) => state === 'running')
      .filter(containerMatches(filter))
      .map(statsOf);
  }

  function sandboxStats(sandbox: SimulatedSandbox): PodSandboxStats {
    const { id, metadata, labels, annotations } = listedSandbox(sandbox);
    const timestamp = asyncScheduler.now() * 1e6;
    const inside = running({ podSandboxId: id });
    return {
      attributes: { id, metadata, labels, annotations },
      linux: {
        cpu: {
          timestamp,
          usageCoreNanoSeconds: sum(inside, ({ cpu }) => cpu?.usageCoreNanoSeconds?.value),
          usageNanoCores: sum(inside, ({ cpu }) => cpu?.usageNanoCores?.value),
        },
        memory: {
          timestamp,
          workingSetBytes: sum(inside, ({ memory }) => memory?.workingSetBytes?.value),
          usageBytes: sum(inside, ({ memory }) => memory?.usageBytes?.value),
          rssBytes: sum(inside, ({ memory }) => memory?.rssBytes?.value),
        },
        process: { timestamp, processCount: { value: inside.length } },
        containers: inside,
      },
    };
  }

  return {
    listContainerStats: (request = {}) =>
      asks(calls, 'ListContainerStats', request, () => ({ stats: running(request.filter) })),
    listPodSandboxStats: () =>
      asks(calls, 'ListPodSandboxStats', {}, () => ({
        stats: [...sandboxes.values()].filter(({ state }) => state === 'ready').map(sandboxStats),
      })),
  };
}

function sum(
  all: readonly ContainerStats[],
  amount: (stats: ContainerStats) => number | undefined,
): { readonly value: number } {
  return { value: all.reduce((total, stats) => total + (amount(stats) ?? 0), 0) };
}
