import { asyncScheduler, catchError, EMPTY, forkJoin, from, map, mergeMap, of, toArray, type Observable } from 'rxjs';
import type { ContainerStats, ImageFsInfoResponse, PodSandboxStats } from '../../model/cri/api.ts';
import { podLogDir, type NodePaths } from '../../model/paths.ts';
import type { Pod } from '../../model/pod.ts';
import type { Entry, PodBook } from '../../streams/book/pod-book.ts';
import type { CriStats } from '../../streams/ports/cri-stats.ts';
import type { CgroupUsage, DiskUsage, MachineUsage, NodeUsage } from '../../streams/ports/node-usage.ts';

export interface StatsPorts {
  readonly cri: CriStats;
  readonly usage: NodeUsage;
  readonly paths: NodePaths;
  /** Where the cgroups of a pod and of all pods are; absent where they are left to the runtime. */
  readonly cgroups?: { readonly ofPod: (pod: Pod) => string; readonly ofPods: string };
}

/** One container that runs, or did until just now. */
export interface CollectedContainer {
  readonly name: string;
  readonly id: string;
  readonly stats: ContainerStats;
  /** Nanoseconds since 1970; absent while it is not known. */
  readonly startedAt?: number;
  /** Bytes of its log files. */
  readonly logs: number;
}

export interface CollectedPod {
  readonly pod: Pod;
  /** Nanoseconds since 1970: when its sandbox was made. */
  readonly startedAt: number;
  readonly containers: readonly CollectedContainer[];
  readonly sandbox?: PodSandboxStats;
  /** Absent where cgroups are left to the runtime. */
  readonly cgroupPath?: string;
  /** Looked at where the runtime does not tell of the sandbox. */
  readonly cgroup?: CgroupUsage;
}

/** All that is known of the use of this node, at one moment. */
export interface Collected {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly machine: MachineUsage;
  readonly podsCgroup?: CgroupUsage;
  readonly pods: readonly CollectedPod[];
  /** Of the file system with the root directory. */
  readonly disk?: DiskUsage;
  readonly imageFs: ImageFsInfoResponse;
  /** By the mount point that the runtime names. */
  readonly disks: ReadonlyMap<string, DiskUsage>;
}

/** Pods that are looked at on disk at the same time. */
const PARALLEL = 8;

/** Looks at everything once. Emits once and completes; errors where the runtime does not tell of its containers. */
export function collect(ports: StatsPorts, book: PodBook): Observable<Collected> {
  const { cri, usage, paths, cgroups } = ports;
  return forkJoin({
    containers: cri.listContainerStats().pipe(map(({ stats }) => stats ?? [])),
    sandboxes: cri.listPodSandboxStats().pipe(
      map(({ stats }) => stats ?? []),
      catchError(() => of<readonly PodSandboxStats[]>([])), // many runtimes cannot tell; cgroups do
    ),
    imageFs: cri.imageFsInfo().pipe(catchError(() => of<ImageFsInfoResponse>({}))),
    machine: usage.machine(),
    disk: usage.disk(paths.rootDir),
    podsCgroup: cgroups ? usage.cgroup(cgroups.ofPods) : of(undefined),
  }).pipe(
    mergeMap(({ containers, sandboxes, imageFs, machine, disk, podsCgroup }) =>
      forkJoin({
        pods: podsOf(ports, book, containers, sandboxes),
        disks: disksOf(usage, imageFs),
      }).pipe(
        map(({ pods, disks }): Collected => ({
          at: asyncScheduler.now(),
          machine,
          pods,
          imageFs,
          disks,
          ...(disk ? { disk } : {}),
          ...(podsCgroup ? { podsCgroup } : {}),
        })),
      ),
    ),
  );
}

function podsOf(
  ports: StatsPorts,
  book: PodBook,
  containers: readonly ContainerStats[],
  sandboxes: readonly PodSandboxStats[],
): Observable<readonly CollectedPod[]> {
  const stats = new Map(containers.map((each) => [each.attributes?.id ?? '', each]));
  const sandboxStats = new Map(sandboxes.map((each) => [each.attributes?.id ?? '', each]));
  return from(book.entries.values()).pipe(
    mergeMap((entry) => podOf(ports, entry, stats, sandboxStats), PARALLEL),
    toArray(),
    map((pods) => pods.toSorted((a, b) => (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1))),
  );
}

function podOf(
  { usage, paths, cgroups }: StatsPorts,
  { pod, of: identity, observed }: Entry,
  stats: ReadonlyMap<string, ContainerStats>,
  sandboxStats: ReadonlyMap<string, PodSandboxStats>,
): Observable<CollectedPod> {
  const ready = observed?.sandboxes.find(({ state }) => state === 'ready');
  if (!pod || !observed || !ready) return EMPTY;
  const sandbox = sandboxStats.get(ready.id);
  const isTold = sandbox?.linux?.cpu !== undefined && sandbox.linux.memory !== undefined;
  const running = observed.containers.filter(({ state }) => state === 'running');
  return forkJoin({
    containers: from(running).pipe(
      mergeMap(({ id, name, detail }) => {
        const told = stats.get(id);
        if (!told) return EMPTY;
        const startedAt = detail && detail.startedAt > 0 ? { startedAt: detail.startedAt } : {};
        return usage
          .filesIn(`${podLogDir(paths, identity)}/${name}`)
          .pipe(map((logs): CollectedContainer => ({ id, name, stats: told, logs, ...startedAt })));
      }),
      toArray(),
    ),
    cgroup: isTold || !cgroups ? of(undefined) : usage.cgroup(cgroups.ofPod(pod)),
  }).pipe(
    map(({ containers, cgroup }): CollectedPod => ({
      pod,
      containers: containers.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      startedAt: ready.createdAt,
      ...(sandbox ? { sandbox } : {}),
      ...(cgroups ? { cgroupPath: cgroups.ofPod(pod) } : {}),
      ...(cgroup ? { cgroup } : {}),
    })),
  );
}

function disksOf(usage: NodeUsage, info: ImageFsInfoResponse): Observable<ReadonlyMap<string, DiskUsage>> {
  const points = new Set(
    [...(info.imageFilesystems ?? []), ...(info.containerFilesystems ?? [])].map(({ fsId }) => fsId?.mountpoint ?? ''),
  );
  return from(points).pipe(
    mergeMap((point) => usage.disk(point).pipe(map((disk) => (disk ? ([[point, disk]] as const) : [])))),
    toArray(),
    map((found) => new Map(found.flat())),
  );
}
