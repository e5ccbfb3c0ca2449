import { defer, finalize, map, of, tap, type Observable } from 'rxjs';
import type { Container, ContainerStatus, ContainerStatusResponse } from '../../model/cri/api.ts';
import { TERMINATION_MESSAGE_POLICY } from '../../model/cri/labels.ts';
import type { Cri } from '../../streams/ports/cri.ts';

/** How the first process of a container has ended. */
export interface TaskEnd {
  readonly exitCode: number;
  /** Nanoseconds since 1970. */
  readonly finishedAt: number;
}

/** A container's status; `early` where its end is told from what is known of that before the CRI knows it. */
export interface EarlyStatusResponse extends ContainerStatusResponse {
  readonly early?: true;
}

type Calls = Pick<Cri, 'listContainers' | 'containerStatus' | 'updateContainerResources'>;

/** The ends that were heard of and that the CRI has yet to tell. */
export interface KnownEnds {
  readonly heard: (containerId: string, end: TaskEnd) => void;
  /** The same calls, their answers corrected by what was heard. */
  readonly over: <C extends Calls>(cri: C) => C;
}

/**
 * What has ended stays ended, so the end of a container is believed as soon as it is heard of, though containerd's CRI
 * tells it only when it has tidied up after it, some 40 ms later.
 *
 * Not believed is what the CRI may know better: that it was for want of memory, and what the log's last lines are. What
 * else there is to say of a container was told while it ran, and is not asked for again.
 */
export function knownEnds(): KnownEnds {
  const ends = new Map<string, TaskEnd>();
  /** What was last told of containers that ran then. */
  const lives = new Map<string, ContainerStatusResponse>();

  function correctList(containers: readonly Container[], isWhole: boolean): readonly Container[] {
    if (ends.size === 0) return containers;
    const running = new Set<string>();
    const corrected = containers.map((container) => {
      if (container.state !== 'CONTAINER_RUNNING' || !ends.has(container.id ?? '')) return container;
      running.add(container.id ?? '');
      return { ...container, state: 'CONTAINER_EXITED' as const };
    });
    // The CRI knows by now, or they are none of its containers.
    if (isWhole) for (const id of ends.keys()) if (!running.has(id)) ends.delete(id);
    return corrected;
  }

  function keepLives(containers: readonly Container[], isWhole: boolean): void {
    const running = new Set<string>();
    for (const { id = '', state } of containers) {
      if (state === 'CONTAINER_RUNNING') running.add(id);
      else lives.delete(id);
    }
    if (isWhole) for (const id of lives.keys()) if (!running.has(id)) lives.delete(id);
  }

  function live(answer: ContainerStatusResponse): void {
    const { id = '', state } = answer.status ?? {};
    if (state === 'CONTAINER_RUNNING') lives.set(id, answer);
    else lives.delete(id);
  }

  function correctStatus(answer: ContainerStatusResponse): EarlyStatusResponse {
    const { status } = answer;
    const end = ends.get(status?.id ?? '');
    if (status?.state !== 'CONTAINER_RUNNING' || !end || !isAllOfIt(status, end)) return answer;
    const { exitCode, finishedAt } = end;
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    return { ...answer, early: true, status: { ...status, state: 'CONTAINER_EXITED', exitCode, finishedAt, reason } };
  }

  /** Nothing where the runtime has to be asked. */
  function knownStatus(id: string): EarlyStatusResponse | undefined {
    const life = ends.has(id) ? lives.get(id) : undefined;
    const status = life && correctStatus(life);
    return status?.early ? status : undefined;
  }

  return {
    heard: (containerId, end) => {
      ends.set(containerId, end);
    },
    over: (cri) => ({
      ...cri,
      listContainers: (request) =>
        cri.listContainers(request).pipe(
          map((answer) => {
            const { containers = [] } = answer;
            const isWhole = request.filter === undefined;
            keepLives(containers, isWhole);
            return { ...answer, containers: correctList(containers, isWhole) };
          }),
        ),
      containerStatus: (request): Observable<EarlyStatusResponse> =>
        defer(() => {
          const known = knownStatus(request.containerId ?? '');
          return known ? of(known) : cri.containerStatus(request).pipe(tap(live), map(correctStatus));
        }),
      updateContainerResources: (request) =>
        cri.updateContainerResources(request).pipe(
          finalize(() => {
            lives.delete(request.containerId ?? ''); // which tells of its limits
          }),
        ),
    }),
  };
}

/** Of a runtime that does not tell what memory a container may take, every kill may have been for want of it. */
function isAllOfIt({ resources, annotations }: ContainerStatus, { exitCode }: TaskEnd): boolean {
  if (exitCode === 0) return true;
  if (annotations?.[TERMINATION_MESSAGE_POLICY] === 'FallbackToLogsOnError') return false;
  return exitCode !== KILLED || (resources?.linux !== undefined && (resources.linux.memoryLimitInBytes ?? 0) === 0);
}

const KILLED = 137;
