import type { Observable } from 'rxjs';
import type {
  ListContainerStatsRequest,
  ListContainerStatsResponse,
  ListPodSandboxStatsResponse,
} from '../../model/cri/api.ts';
import type { Cri } from './cri.ts';

/** What a runtime tells of the use of its containers; by the rules of {@link Cri}. */
export interface CriStats extends Pick<Cri, 'imageFsInfo'> {
  readonly listContainerStats: (request?: ListContainerStatsRequest) => Observable<ListContainerStatsResponse>;
  /** Errors with kind `unimplemented` where the runtime does not know the call. */
  readonly listPodSandboxStats: () => Observable<ListPodSandboxStatsResponse>;
}
