import type { MethodDefinition } from '@grpc/grpc-js';
import protobuf, { type IConversionOptions, type INamespace } from 'protobufjs/light.js';
import type {
  ImageServiceCalls,
  ImageServiceStreams,
  RuntimeServiceCalls,
  RuntimeServiceStreams,
} from '../../model/cri/api.ts';
import { criDescriptor } from './descriptor.ts';

/** How one call is named and encoded. */
export type Method<Request, Answer> = MethodDefinition<Request, Answer>;

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

/** What the types in `model/cri/api.ts` are generated for; measured to be the cheapest to decode. */
const SHAPE: IConversionOptions = { longs: Number, enums: String, arrays: true };

/**
 * Both CRI v1 services. Takes some milliseconds, so it is left until somebody connects; proto-loader gives the same
 * methods but takes five times as long and 10 MB more, for reflection that nobody asks for.
 */
export function criServices(): { readonly runtime: RuntimeMethods; readonly image: ImageMethods } {
  const serviceOf = servicesIn(criDescriptor);
  return {
    runtime: serviceOf('runtime.v1.RuntimeService') as RuntimeMethods,
    image: serviceOf('runtime.v1.ImageService') as ImageMethods,
  };
}

/** Looks up services of a generated descriptor. The caller types them: descriptor and types come from the same file. */
export function servicesIn(descriptor: INamespace): (name: string) => unknown {
  const root = protobuf.Root.fromJSON(descriptor).resolveAll();
  return (name) =>
    Object.fromEntries(root.lookupService(name).methodsArray.map((method) => [method.name, methodOf(method, name)]));
}

function methodOf(method: protobuf.Method, service: string): Method<object, object> {
  const { resolvedRequestType, resolvedResponseType, requestStream, responseStream } = method;
  if (!resolvedRequestType || !resolvedResponseType) throw new Error(`${method.name} has no types`);
  return {
    path: `/${service}/${method.name}`,
    requestStream: requestStream ?? false,
    responseStream: responseStream ?? false,
    requestSerialize: encoder(resolvedRequestType),
    requestDeserialize: decoder(resolvedRequestType),
    responseSerialize: encoder(resolvedResponseType),
    responseDeserialize: decoder(resolvedResponseType),
  };
}

function encoder(type: protobuf.Type): (value: object) => Buffer {
  return (value) => {
    const { buffer, byteOffset, byteLength } = type.encode(type.fromObject(value)).finish();
    return Buffer.from(buffer, byteOffset, byteLength);
  };
}

function decoder(type: protobuf.Type): (bytes: Uint8Array) => object {
  return (bytes) => type.toObject(type.decode(bytes), SHAPE);
}
