import type { Observable } from 'rxjs';
import type { ContainerEventResponse } from '../../model/cri/api.ts';
import { callStream } from './call-stream.ts';
import type { Connection } from './connection.ts';

/**
 * Emits each change of a container or sandbox as the runtime tells it. Never completes: errors when the stream is cut,
 * with kind `unimplemented` where the runtime has no events (containerd before 1.7).
 */
export function eventsWatch({ runtime }: Connection): Observable<ContainerEventResponse> {
  return callStream(runtime.client, runtime.methods.GetContainerEvents, {});
}
