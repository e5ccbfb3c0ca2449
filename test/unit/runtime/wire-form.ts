import protobuf, { type Message } from 'protobufjs';
import { criDescriptor } from '../../../src/runtime/cri/descriptor.ts';

const cri = protobuf.Root.fromJSON(criDescriptor as protobuf.INamespace).resolveAll();

/** What a message says on the wire: an enum by name or number, a zero written or left out, are all the same there. */
export function onWire(
  type: 'PodSandboxConfig' | 'ContainerConfig',
  message: object,
): Readonly<Record<string, unknown>> {
  const codec = cri.lookupType(`runtime.v1.${type}`);
  const decoded: Message = codec.decode(codec.encode(codec.fromObject(message)).finish());
  return codec.toObject(decoded, { defaults: true, enums: String, longs: Number, bytes: String });
}
