import { credentials, loadPackageDefinition, type Client, type ClientReadableStream } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ImageServiceCalls, RuntimeServiceCalls, RuntimeServiceStreams } from '../../../../src/model/cri/api.ts';

type Calls = RuntimeServiceCalls & ImageServiceCalls;

/** A CRI client that shares no code with the agent's, nor with the server's. */
export interface PlainClient extends Disposable {
  /** Rejects with a `ServiceError`. */
  readonly call: <Name extends keyof Calls>(
    name: Name,
    request: Calls[Name]['request'],
    options?: { readonly deadline?: number },
  ) => Promise<Calls[Name]['answer']>;
  readonly events: () => ClientReadableStream<RuntimeServiceStreams['GetContainerEvents']['answer']>;
}

export function plainClient(endpoint: string): PlainClient {
  const definition = loadSync('src/runtime/cri/api.proto', { longs: Number, enums: String, arrays: true });
  const { runtime } = loadPackageDefinition(definition) as unknown as {
    readonly runtime: { readonly v1: Readonly<Record<string, new (...args: readonly unknown[]) => Client>> };
  };
  const options = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
  const clients = ['RuntimeService', 'ImageService'].map((name) => {
    const Service = runtime.v1[name];
    if (!Service) throw new Error(`there is no ${name}`);
    return new Service(endpoint, credentials.createInsecure(), options) as unknown as Service & Client;
  });
  const clientOf = (name: string): Service & Client => {
    const client = clients.find((each) => name in each);
    if (!client) throw new Error(`there is no call ${name}`);
    return client;
  };

  return {
    call: (name, request, { deadline = 60_000 } = {}) =>
      new Promise((resolve, reject) => {
        clientOf(name)[name]?.(request, { deadline: Date.now() + deadline }, (error: unknown, answer: never) => {
          if (error instanceof Error) reject(error);
          else resolve(answer);
        });
      }),
    events: () => clientOf('GetContainerEvents')['GetContainerEvents']?.({}) as never,
    [Symbol.dispose]: () => {
      for (const client of clients) client.close();
    },
  };
}

type Service = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
