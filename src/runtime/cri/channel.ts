import { Client, credentials, type ChannelOptions } from '@grpc/grpc-js';
import { Observable } from 'rxjs';

const LARGEST_MESSAGE = 16 * 1024 * 1024;

/** Sizes in bytes, times in milliseconds; the numbers are the kubelet's own (cri-client). */
const OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': LARGEST_MESSAGE,
  'grpc.max_send_message_length': LARGEST_MESSAGE,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
  // A socket path makes an invalid :authority, which some servers refuse.
  'grpc.default_authority': 'localhost',
  // A socket of this machine is never behind the proxy that http_proxy names.
  'grpc.enable_http_proxy': 0,
  // Connections in the pool that all channels share outlive their channel.
  'grpc.use_local_subchannel_pool': 1,
};

/**
 * Emits one client for an endpoint (`unix:///path`) and holds it: never completes, never errors, closes the channel
 * when unsubscribed. It connects on the first call and, after a loss, again with a back-off of 100 ms to 3 s;
 * calls made while it is down fail at once with UNAVAILABLE.
 */
export function channel(endpoint: string): Observable<Client> {
  return new Observable((subscriber) => {
    const client = new Client(endpoint, credentials.createInsecure(), OPTIONS);
    subscriber.add(() => {
      client.close();
    });
    subscriber.next(client);
  });
}
