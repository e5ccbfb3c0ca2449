import type { GrpcClient } from '../grpc/grpc-client.ts';
import type { Deadlines } from './deadlines.ts';
import type { ImageMethods, RuntimeMethods } from './services.ts';

/** What every call needs: where each service is served, how its calls are encoded, how long they may take. */
export interface Connection {
  readonly runtime: { readonly client: GrpcClient; readonly methods: RuntimeMethods };
  readonly image: { readonly client: GrpcClient; readonly methods: ImageMethods };
  readonly deadlines: Deadlines;
}
