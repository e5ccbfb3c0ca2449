import type { Buffer } from 'node:buffer';
import type {
  ImageServiceCalls,
  ImageServiceStreams,
  RuntimeServiceCalls,
  RuntimeServiceStreams,
} from '../../model/cri/api.ts';
import { codecs } from '../protobuf/codec.ts';
import { itemsOf, type Namespace } from '../protobuf/descriptor.ts';
import { criDescriptor } from './descriptor.ts';

/** How one call is named and encoded, for either side of it. */
export interface Method<Request, Answer> {
  /** As `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (request: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (answer: Answer) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Answer;
}

interface Exchange {
  readonly request: object;
  readonly answer: object;
}

/** The methods of a service, typed by a table of what each call takes and gives. */
export type Methods<Table> = {
  readonly [Call in keyof Table]: Table[Call] extends Exchange
    ? Method<Table[Call]['request'], Table[Call]['answer']>
    : never;
};

export type RuntimeMethods = Methods<RuntimeServiceCalls & RuntimeServiceStreams>;
export type ImageMethods = Methods<ImageServiceCalls & ImageServiceStreams>;

/** Both CRI v1 services. */
export function criServices(): { readonly runtime: RuntimeMethods; readonly image: ImageMethods } {
  const serviceOf = servicesIn(criDescriptor);
  return {
    runtime: serviceOf('runtime.v1.RuntimeService') as RuntimeMethods,
    image: serviceOf('runtime.v1.ImageService') as ImageMethods,
  };
}

/** Looks up services of a generated descriptor. The caller types them: descriptor and types come from the same file. */
export function servicesIn(descriptor: Namespace): (name: string) => unknown {
  const codecOf = codecs(descriptor);
  const items = itemsOf(descriptor);

  return (name) => {
    const service = items.get(name);
    if (!service || !('methods' in service)) throw new Error(`${name} is no service`);
    const home = name.slice(0, name.lastIndexOf('.'));
    return Object.fromEntries(
      Object.entries(service.methods).map(([method, { requestType, responseType, requestStream, responseStream }]) => {
        const request = codecOf(`${home}.${requestType}`);
        const answer = codecOf(`${home}.${responseType}`);
        const made: Method<object, object> = {
          path: `/${name}/${method}`,
          requestStream: requestStream ?? false,
          responseStream: responseStream ?? false,
          requestSerialize: request.encode,
          requestDeserialize: request.decode,
          responseSerialize: answer.encode,
          responseDeserialize: answer.decode,
        };
        return [method, made];
      }),
    );
  };
}
