import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { Observable } from 'rxjs';
import type {
  ImageServiceCalls,
  ImageServiceStreams,
  RuntimeServiceCalls,
  RuntimeServiceStreams,
} from '../../../../src/model/cri/api.ts';

/** Read from the .proto file by gRPC's own loader: the client under test uses neither. */
const CRI = loadSync('src/runtime/cri/api.proto', { longs: Number, enums: String });

interface Exchange {
  readonly request: object;
  readonly answer: object;
}
type Unary<Table> = {
  readonly [Call in keyof Table]?: Table[Call] extends Exchange
    ? (
        call: ServerUnaryCall<Table[Call]['request'], Table[Call]['answer']>,
        answer: sendUnaryData<Table[Call]['answer']>,
      ) => void
    : never;
};
type Streaming<Table> = {
  readonly [Call in keyof Table]?: Table[Call] extends Exchange
    ? (call: ServerWritableStream<Table[Call]['request'], Table[Call]['answer']>) => void
    : never;
};

/** What a fake runtime answers; every other call is unimplemented. */
export type Handlers = Unary<RuntimeServiceCalls> &
  Streaming<RuntimeServiceStreams> &
  Unary<ImageServiceCalls> &
  Streaming<ImageServiceStreams>;

/** A directory for sockets, removed when the test ends. */
export function socketDir(): { readonly endpoint: (name: string) => string } & Disposable {
  const dir = mkdtempSync(join(tmpdir(), 'rxlet-cri-'));
  return {
    endpoint: (name) => `unix://${join(dir, name)}`,
    [Symbol.dispose]: () => {
      rmSync(dir, { recursive: true });
    },
  };
}

/** Emits the server once it listens at an endpoint, and takes it away, with every connection, when unsubscribed. */
export function fakeRuntime(endpoint: string, handlers: Handlers): Observable<Server> {
  return serve(endpoint, (server) => {
    for (const name of ['RuntimeService', 'ImageService']) {
      server.addService(CRI[`runtime.v1.${name}`] as ServiceDefinition, handlers);
    }
  });
}

/** As `fakeRuntime`, for any services. */
export function serve(endpoint: string, addServices: (server: Server) => void): Observable<Server> {
  return new Observable((subscriber) => {
    const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
    addServices(server);
    server.bindAsync(endpoint, ServerCredentials.createInsecure(), (error) => {
      if (error) subscriber.error(error);
      else subscriber.next(server);
    });
    return () => {
      server.forceShutdown();
    };
  });
}
