import { defer, tap, type Observable } from 'rxjs';
import type { Cri } from '../../streams/ports/cri.ts';
import type { CriStats } from '../../streams/ports/cri-stats.ts';
import { DEAF, type CriCall, type Meter } from '../../streams/ports/meter.ts';

/** The same runtime, whose calls are measured when they have ended, or were cancelled. */
export function meterCalls<Calls extends Cri>(cri: Calls, meter: Meter): Calls {
  if (meter === DEAF) return cri;
  const metered = Object.entries(cri).map(([member, call]: [string, Call]): [string, Call] => {
    const operation = OPERATIONS[member as keyof typeof OPERATIONS];
    return [member, operation === undefined ? call : (request) => timed(operation, request, call(request), meter)];
  });
  return Object.fromEntries(metered) as unknown as Calls;
}

type Call = (request?: never) => Observable<unknown>;

function timed(operation: string, request: unknown, call$: Observable<unknown>, meter: Meter): Observable<unknown> {
  return defer(() => {
    const begun = performance.now();
    let isOver = false;
    function end(how: Pick<CriCall, 'outcome' | 'answer' | 'error'>): void {
      if (isOver) return;
      isOver = true;
      meter({ kind: 'criCall', operation, took: performance.now() - begun, request, ...how });
    }
    return call$.pipe(
      tap({
        // Every measured call has one answer, and is over for whoever waits for it when that is there.
        next: (answer) => {
          end({ outcome: 'done', answer });
        },
        error: (error: unknown) => {
          end({ outcome: 'failed', error });
        },
        unsubscribe: () => {
          end({ outcome: 'cut' });
        },
      }),
    );
  });
}

/** The kubelet's names of the calls; what lasts as long as the agent does is not measured. */
const OPERATIONS: Readonly<Record<keyof (Cri & CriStats), string | undefined>> = {
  version: 'version',
  status: 'status',
  runtimeConfig: 'runtime_config',
  runPodSandbox: 'run_podsandbox',
  stopPodSandbox: 'stop_podsandbox',
  removePodSandbox: 'remove_podsandbox',
  podSandboxStatus: 'podsandbox_status',
  listPodSandbox: 'list_podsandbox',
  createContainer: 'create_container',
  startContainer: 'start_container',
  stopContainer: 'stop_container',
  removeContainer: 'remove_container',
  containerStatus: 'container_status',
  listContainers: 'list_containers',
  updateContainerResources: 'update_container',
  reopenContainerLog: 'reopen_container_log',
  execSync: 'exec_sync',
  exec: 'exec',
  attach: 'attach',
  portForward: 'port_forward',
  containerEvents: undefined,
  pullImage: 'pull_image',
  imageStatus: 'image_status',
  listImages: 'list_images',
  removeImage: 'remove_image',
  imageFsInfo: 'image_fs_info',
  listContainerStats: 'list_container_stats',
  listPodSandboxStats: 'list_podsandbox_stats',
};
