import type { ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { firstValueFrom, Subject, Subscription, take, toArray, type Observable } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { containerdTaskHints } from '../../../../src/runtime/cri/events-containerd.ts';
import { fakeRuntime, serve, socketDir } from './fake-runtime.ts';

/** The service as containerd serves it, with the event packed as it really is. */
const CONTAINERD = protobuf.parse(`
  syntax = "proto3";
  package containerd.services.events.v1;
  service Events { rpc Subscribe(SubscribeRequest) returns (stream Envelope); }
  message SubscribeRequest { repeated string filters = 1; }
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }
  message Packed { string type_url = 1; bytes value = 2; }
  message Envelope { Timestamp timestamp = 1; string namespace = 2; string topic = 3; Packed event = 4; }
  message TaskExit { string container_id = 1; string id = 2; uint32 pid = 3; uint32 exit_status = 4; Timestamp exited_at = 5; }
  message TaskOOM { string container_id = 1; }
  message TaskStart { string container_id = 1; uint32 pid = 2; }
  message TaskDelete { string container_id = 1; uint32 pid = 2; uint32 exit_status = 3; Timestamp exited_at = 4; string id = 5; }
`).root;
const PACKAGE = 'containerd.services.events.v1';

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

describe('containerdTaskHints', () => {
  test('names the container of each task event, and how it has ended, whatever else the event holds', async () => {
    const { hint$ } = await containerd((call) => {
      call.write(
        envelope('TaskExit', {
          containerId: 'c1',
          id: 'c1',
          pid: 7,
          exitStatus: 137,
          exitedAt: { seconds: 1, nanos: 5 },
        }),
      );
      call.write(envelope('TaskOOM', { containerId: 'c2' }));
      call.write(envelope('TaskStart', { containerId: 'c3', pid: 70_000 }));
      call.write(envelope('TaskDelete', { containerId: 'c4', pid: 8, exitStatus: 1, exitedAt: { seconds: 1 } }));
      call.write(envelope('TaskDelete', { containerId: 'c5', pid: 8, id: 'c5' }));
    });

    await expect(firstValueFrom(hint$.pipe(take(5), toArray()))).resolves.toEqual([
      { containerId: 'c1', became: 'stopped', ended: { exitCode: 137, finishedAt: 1_000_000_005 } },
      { containerId: 'c2' },
      { containerId: 'c3', became: 'started' },
      { containerId: 'c4', became: 'stopped' },
      { containerId: 'c5', became: 'stopped' },
    ]);
  });

  test('says nothing of processes that an exec added to a container', async () => {
    const { hint$ } = await containerd((call) => {
      call.write(envelope('TaskExit', { containerId: 'c1', id: 'exec-1', pid: 7, exitedAt: { seconds: 1 } }));
      call.write(envelope('TaskDelete', { containerId: 'c1', pid: 7, exitStatus: 0, id: 'exec-1' }));
      call.write(envelope('TaskExit', { containerId: 'c2', id: 'c2', pid: 9 }));
    });

    await expect(firstValueFrom(hint$)).resolves.toEqual({ containerId: 'c2', became: 'stopped' });
  });

  test('asks for tasks of Kubernetes only, and stops asking when unsubscribed', async () => {
    const asked = new Subject<unknown>();
    const cancelled = new Subject<string>();
    const { hint$ } = await containerd((call) => {
      asked.next(call.request);
      call.on('cancelled', () => {
        cancelled.next('stopped');
      });
    });
    const request = firstValueFrom(asked);
    const stopped = firstValueFrom(cancelled);
    const listener = hint$.subscribe();

    await expect(request).resolves.toEqual({
      filters: ['start', 'exit', 'oom', 'delete'].map((what) => `namespace==k8s.io,topic=="/tasks/${what}"`),
    });
    listener.unsubscribe();
    await expect(stopped).resolves.toBe('stopped');
  });

  test('asks for nothing but ends where only they are wanted', async () => {
    const asked = new Subject<unknown>();
    const { endpoint } = await containerd((call) => {
      asked.next(call.request);
    });
    const request = firstValueFrom(asked);
    held.add(containerdTaskHints(endpoint, 'ends').subscribe());

    await expect(request).resolves.toEqual({ filters: ['namespace==k8s.io,topic=="/tasks/exit"'] });
  });

  test('errors when containerd goes', async () => {
    const { hint$, server } = await containerd((call) => {
      call.write(envelope('TaskOOM', { containerId: 'c1' }));
    });
    const hints = new Subject<unknown>();
    const first = firstValueFrom(hints);
    const failure = failureOf(hint$, (hint) => {
      hints.next(hint);
    });
    await first;

    server.unsubscribe();

    await expect(failure).resolves.toMatchObject({ kind: 'unavailable', call: 'Subscribe' });
  });

  test('says unimplemented on a runtime that is not containerd', async () => {
    const endpoint = newEndpoint();
    await started(fakeRuntime(endpoint, {}));

    await expect(failureOf(containerdTaskHints(endpoint))).resolves.toMatchObject({ kind: 'unimplemented' });
  });
});

type Events = ServerWritableStream<object, object>;

async function containerd(
  onSubscribe: (call: Events) => void,
): Promise<{ readonly hint$: Observable<unknown>; readonly server: Subscription; readonly endpoint: string }> {
  const endpoint = newEndpoint();
  const definition = fromJSON(CONTAINERD.toJSON(), { arrays: true })[`${PACKAGE}.Events`];
  const server = await started(
    serve(endpoint, (to) => {
      to.addService(definition as ServiceDefinition, { Subscribe: onSubscribe });
    }),
  );
  return { hint$: containerdTaskHints(endpoint), server, endpoint };
}

function envelope(type: string, event: object): object {
  const packed = CONTAINERD.lookupType(`${PACKAGE}.${type}`);
  return {
    timestamp: { seconds: 1_700_000_000, nanos: 5 },
    namespace: 'k8s.io',
    topic: `/tasks/${type.slice('Task'.length).toLowerCase()}`,
    event: { typeUrl: `containerd.events.${type}`, value: packed.encode(packed.fromObject(event)).finish() },
  };
}

function newEndpoint(): string {
  const dir = socketDir();
  held.add(() => {
    dir[Symbol.dispose]();
  });
  return dir.endpoint('containerd.sock');
}

async function started(server$: Observable<unknown>): Promise<Subscription> {
  const up = new Subject<unknown>();
  const listens = firstValueFrom(up);
  const server = server$.subscribe(up);
  held.add(server);
  await listens;
  return server;
}

/** What a stream fails with; never resolves while it does not fail. */
function failureOf(
  stream$: Observable<unknown>,
  onValue: (value: unknown) => void = () => undefined,
): Promise<unknown> {
  return new Promise((resolve) => {
    held.add(stream$.subscribe({ next: onValue, error: resolve }));
  });
}
