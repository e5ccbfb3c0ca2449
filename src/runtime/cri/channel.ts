import { Observable } from 'rxjs';
import { grpcClient, type GrpcClient } from '../grpc/grpc-client.ts';

/**
 * Emits one client for an endpoint (`unix:///path`) and holds it: never completes, never errors, closes the channel
 * when unsubscribed. It connects on the first call and, after a loss, again with a back-off of 100 ms to 3 s;
 * calls made while it is down fail at once with UNAVAILABLE.
 */
export function channel(endpoint: string): Observable<GrpcClient> {
  return new Observable((subscriber) => {
    const client = grpcClient(endpoint.replace(/^unix:(\/\/)?/, ''));
    subscriber.add(() => {
      client.close();
    });
    subscriber.next(client);
  });
}
