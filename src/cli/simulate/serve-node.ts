import { mergeMap, of, type Observable } from 'rxjs';
import { answerCri } from '../../runtime/cri/answer-cri.ts';
import { criCalls } from '../../runtime/cri/cri-calls.ts';
import { grpcServer } from '../../runtime/grpc/grpc-server.ts';
import { listenOnSocket } from '../../server/listen-on-socket.ts';
import type { SimulatedNode } from '../../simulation/simulated-node.ts';

/**
 * Offers the runtime of a simulated node on a unix socket, as a CRI v1 server, to its owner alone. Emits the path once
 * it listens, then never completes; errors with a `SocketError` where it cannot listen. Unsubscribing hangs up and
 * removes the socket; the node lives on.
 */
export function serveNode({ cri }: Pick<SimulatedNode, 'cri'>, socket: string): Observable<string> {
  const calls = { answer: answerCri(criCalls(cri)) };
  return listenOnSocket({ socket, who: 'runtime' }, grpcServer).pipe(
    mergeMap((event) => (event.kind === 'listening' ? of(event.where) : calls.answer(event))),
  );
}
