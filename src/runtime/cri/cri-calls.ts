import { map, of, type Observable } from 'rxjs';
import type {
  ContainerStatsResponse,
  ImageServiceCalls,
  ListPodSandboxStatsResponse,
  PodSandboxStats,
  PodSandboxStatsFilter,
  PodSandboxStatsResponse,
  RuntimeServiceCalls,
  RuntimeServiceStreams,
} from '../../model/cri/api.ts';
import { RuntimeError } from '../../model/errors.ts';
import type { Cri } from '../../streams/ports/cri.ts';
import type { CriStats } from '../../streams/ports/cri-stats.ts';

interface Exchange {
  readonly request: object;
  readonly answer: object;
}

/** Calls by their names in the CRI. One that is left out is unimplemented. */
type Table<Service> = {
  readonly [Call in keyof Service]?: Service[Call] extends Exchange
    ? (request: Service[Call]['request']) => Observable<Service[Call]['answer'] | undefined>
    : never;
};

export interface CriCalls {
  readonly runtime: Table<RuntimeServiceCalls & RuntimeServiceStreams>;
  readonly image: Table<ImageServiceCalls>;
}

/** A runtime as a client of its socket sees it: all that the port has, and what follows from that. */
export function criCalls(cri: Cri & CriStats): CriCalls {
  return {
    runtime: {
      Version: cri.version,
      Status: cri.status,
      RuntimeConfig: cri.runtimeConfig,
      // Without a network configuration to fill in there is nothing to do with it, as with containerd.
      UpdateRuntimeConfig: () => of(undefined),
      RunPodSandbox: cri.runPodSandbox,
      StopPodSandbox: cri.stopPodSandbox,
      RemovePodSandbox: cri.removePodSandbox,
      PodSandboxStatus: cri.podSandboxStatus,
      ListPodSandbox: cri.listPodSandbox,
      CreateContainer: cri.createContainer,
      StartContainer: cri.startContainer,
      StopContainer: cri.stopContainer,
      RemoveContainer: cri.removeContainer,
      ContainerStatus: cri.containerStatus,
      ListContainers: cri.listContainers,
      UpdateContainerResources: cri.updateContainerResources,
      ReopenContainerLog: cri.reopenContainerLog,
      ExecSync: cri.execSync,
      Exec: cri.exec,
      Attach: cri.attach,
      PortForward: cri.portForward,
      GetContainerEvents: cri.containerEvents,
      ContainerStats: ({ containerId = '' }) =>
        cri.listContainerStats({ filter: { id: containerId } }).pipe(
          map(({ stats = [] }): ContainerStatsResponse => {
            return { stats: only('ContainerStats', containerId, stats) };
          }),
        ),
      ListContainerStats: cri.listContainerStats,
      PodSandboxStats: ({ podSandboxId = '' }) =>
        filtered(cri.listPodSandboxStats(), { id: podSandboxId }).pipe(
          map(({ stats = [] }): PodSandboxStatsResponse => {
            return { stats: only('PodSandboxStats', podSandboxId, stats) };
          }),
        ),
      ListPodSandboxStats: ({ filter }) => filtered(cri.listPodSandboxStats(), filter),
    },
    image: {
      PullImage: cri.pullImage,
      ImageStatus: cri.imageStatus,
      ListImages: cri.listImages,
      RemoveImage: cri.removeImage,
      ImageFsInfo: cri.imageFsInfo,
    },
  };
}

function only<Stats>(call: string, id: string, [stats]: readonly Stats[]): Stats {
  if (id === '' || stats === undefined)
    throw new RuntimeError('notFound', call, `nothing that runs has the id "${id}"`);
  return stats;
}

function filtered(
  answer$: Observable<ListPodSandboxStatsResponse>,
  { id = '', labelSelector = {} }: PodSandboxStatsFilter = {},
): Observable<ListPodSandboxStatsResponse> {
  const fits = ({ attributes }: PodSandboxStats): boolean =>
    (attributes?.id ?? '').startsWith(id) &&
    Object.entries(labelSelector).every(([key, value]) => attributes?.labels?.[key] === value);
  return answer$.pipe(map(({ stats = [] }) => ({ stats: stats.filter(fits) })));
}
