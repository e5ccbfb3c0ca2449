import type { Observable } from 'rxjs';
import type {
  AttachRequest,
  AttachResponse,
  ContainerEventResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  ContainerStatusRequest,
  ContainerStatusResponse,
  ExecRequest,
  ExecResponse,
  ExecSyncRequest,
  ExecSyncResponse,
  ImageFsInfoResponse,
  ImageStatusRequest,
  ImageStatusResponse,
  ListContainersRequest,
  ListContainersResponse,
  ListImagesRequest,
  ListImagesResponse,
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
  PortForwardRequest,
  PortForwardResponse,
  PullImageRequest,
  PullImageResponse,
  RemoveContainerRequest,
  RemoveImageRequest,
  RemovePodSandboxRequest,
  ReopenContainerLogRequest,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  RuntimeConfigResponse,
  StartContainerRequest,
  StatusRequest,
  StatusResponse,
  StopContainerRequest,
  StopPodSandboxRequest,
  UpdateContainerResourcesRequest,
  VersionResponse,
} from '../../model/cri/api.ts';

/**
 * A container runtime, one member per CRI v1 call.
 *
 * Every member returns a cold Observable: subscribing sends the call, one value is emitted and the stream
 * completes when it has succeeded; unsubscribing cancels the call. It errors with a {@link RuntimeError},
 * never with anything else, and always within the deadline of that call (facts sheet 1.6).
 * Calls whose answer says nothing emit `undefined` once, so that `concatMap` after them runs.
 */
export interface Cri {
  readonly version: () => Observable<VersionResponse>;
  readonly status: (request?: StatusRequest) => Observable<StatusResponse>;
  readonly runtimeConfig: () => Observable<RuntimeConfigResponse>;

  readonly runPodSandbox: (request: RunPodSandboxRequest) => Observable<RunPodSandboxResponse>;
  readonly stopPodSandbox: (request: StopPodSandboxRequest) => Observable<undefined>;
  readonly removePodSandbox: (request: RemovePodSandboxRequest) => Observable<undefined>;
  readonly podSandboxStatus: (request: PodSandboxStatusRequest) => Observable<PodSandboxStatusResponse>;
  readonly listPodSandbox: (request: ListPodSandboxRequest) => Observable<ListPodSandboxResponse>;

  readonly createContainer: (request: CreateContainerRequest) => Observable<CreateContainerResponse>;
  readonly startContainer: (request: StartContainerRequest) => Observable<undefined>;
  readonly stopContainer: (request: StopContainerRequest) => Observable<undefined>;
  readonly removeContainer: (request: RemoveContainerRequest) => Observable<undefined>;
  readonly containerStatus: (request: ContainerStatusRequest) => Observable<ContainerStatusResponse>;
  readonly listContainers: (request: ListContainersRequest) => Observable<ListContainersResponse>;
  readonly updateContainerResources: (request: UpdateContainerResourcesRequest) => Observable<undefined>;
  readonly reopenContainerLog: (request: ReopenContainerLogRequest) => Observable<undefined>;
  readonly execSync: (request: ExecSyncRequest) => Observable<ExecSyncResponse>;

  /** These three answer with a URL of the runtime's own server, to which a client can talk for as long as it likes. */
  readonly exec: (request: ExecRequest) => Observable<ExecResponse>;
  readonly attach: (request: AttachRequest) => Observable<AttachResponse>;
  readonly portForward: (request: PortForwardRequest) => Observable<PortForwardResponse>;

  /** Emits one value per event; errors when the stream is cut, with kind `unimplemented` where the runtime has none. */
  readonly containerEvents: () => Observable<ContainerEventResponse>;

  readonly pullImage: (request: PullImageRequest) => Observable<PullImageResponse>;
  readonly imageStatus: (request: ImageStatusRequest) => Observable<ImageStatusResponse>;
  readonly listImages: (request: ListImagesRequest) => Observable<ListImagesResponse>;
  readonly removeImage: (request: RemoveImageRequest) => Observable<undefined>;
  readonly imageFsInfo: () => Observable<ImageFsInfoResponse>;
}
