import { combineLatest, defer, map, type Observable } from 'rxjs';
import type { Cri } from '../../streams/ports/cri.ts';
import type { CriStats } from '../../streams/ports/cri-stats.ts';
import type { GrpcClient } from '../grpc/grpc-client.ts';
import { channel } from './channel.ts';
import type { Connection } from './connection.ts';
import { containerAttach } from './container-attach.ts';
import { containerCreate } from './container-create.ts';
import { containerExec } from './container-exec.ts';
import { containerExecStream } from './container-exec-stream.ts';
import { containerList } from './container-list.ts';
import { containerRemove } from './container-remove.ts';
import { containerReopenLog } from './container-reopen-log.ts';
import { containerStatsList } from './container-stats-list.ts';
import { containerStart } from './container-start.ts';
import { containerStatus } from './container-status.ts';
import { containerStop } from './container-stop.ts';
import { containerUpdate } from './container-update.ts';
import { eventsWatch } from './events-watch.ts';
import { imageFsInfo } from './image-fs-info.ts';
import { imageList } from './image-list.ts';
import { imagePull } from './image-pull.ts';
import { imageRemove } from './image-remove.ts';
import { imageStatus } from './image-status.ts';
import { runtimeConfig } from './runtime-config.ts';
import { runtimeStatus } from './runtime-status.ts';
import { runtimeVersion } from './runtime-version.ts';
import { sandboxList } from './sandbox-list.ts';
import { sandboxPortForward } from './sandbox-port-forward.ts';
import { sandboxRemove } from './sandbox-remove.ts';
import { sandboxRun } from './sandbox-run.ts';
import { sandboxStatsList } from './sandbox-stats-list.ts';
import { sandboxStatus } from './sandbox-status.ts';
import { sandboxStop } from './sandbox-stop.ts';
import { deadlines } from './deadlines.ts';
import { criServices } from './services.ts';

/** Where a runtime is reached. */
export interface CriAddress {
  /** As `unix:///run/containerd/containerd.sock`. */
  readonly runtimeEndpoint: string;
  /** Where images are served; mostly the same as `runtimeEndpoint`, and then the same channel. */
  readonly imageEndpoint: string;
  /** Milliseconds a call may take that has no deadline of its own (kubelet, `runtimeRequestTimeout`: 120,000). */
  readonly requestTimeout: number;
}

/**
 * Emits the runtime at an address once, and holds the channels to it until unsubscribed. Never completes and never
 * errors: a runtime that cannot be reached shows in its calls, as kind `unavailable`, and is reached again by itself.
 */
export function connectCri({ runtimeEndpoint, imageEndpoint, requestTimeout }: CriAddress): Observable<Cri & CriStats> {
  return defer(() => {
    const methods = criServices();
    return channels(runtimeEndpoint, imageEndpoint).pipe(
      map(([runtime, image]) =>
        criOver({
          runtime: { client: runtime, methods: methods.runtime },
          image: { client: image, methods: methods.image },
          deadlines: deadlines(requestTimeout),
        }),
      ),
    );
  });
}

function channels(runtime: string, image: string): Observable<readonly [GrpcClient, GrpcClient]> {
  return runtime === image
    ? channel(runtime).pipe(map((client) => [client, client]))
    : combineLatest([channel(runtime), channel(image)]);
}

function criOver(connection: Connection): Cri & CriStats {
  return {
    version: () => runtimeVersion(connection),
    status: (request = {}) => runtimeStatus(connection, request),
    runtimeConfig: () => runtimeConfig(connection),
    runPodSandbox: (request) => sandboxRun(connection, request),
    stopPodSandbox: (request) => sandboxStop(connection, request),
    removePodSandbox: (request) => sandboxRemove(connection, request),
    podSandboxStatus: (request) => sandboxStatus(connection, request),
    listPodSandbox: (request) => sandboxList(connection, request),
    createContainer: (request) => containerCreate(connection, request),
    startContainer: (request) => containerStart(connection, request),
    stopContainer: (request) => containerStop(connection, request),
    removeContainer: (request) => containerRemove(connection, request),
    containerStatus: (request) => containerStatus(connection, request),
    listContainers: (request) => containerList(connection, request),
    updateContainerResources: (request) => containerUpdate(connection, request),
    reopenContainerLog: (request) => containerReopenLog(connection, request),
    execSync: (request) => containerExec(connection, request),
    exec: (request) => containerExecStream(connection, request),
    attach: (request) => containerAttach(connection, request),
    portForward: (request) => sandboxPortForward(connection, request),
    containerEvents: () => eventsWatch(connection),
    pullImage: (request) => imagePull(connection, request),
    imageStatus: (request) => imageStatus(connection, request),
    listImages: (request) => imageList(connection, request),
    removeImage: (request) => imageRemove(connection, request),
    imageFsInfo: () => imageFsInfo(connection),
    listContainerStats: (request) => containerStatsList(connection, request),
    listPodSandboxStats: () => sandboxStatsList(connection),
  };
}
