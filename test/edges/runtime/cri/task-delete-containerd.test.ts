import { status, type ServerUnaryCall, type ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';
import { firstValueFrom, lastValueFrom, Subject, Subscription, type Observable } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { deleteContainerdTask } from '../../../../src/runtime/cri/task-delete-containerd.ts';
import { fakeRuntime, serve, socketDir } from './fake-runtime.ts';

/** The call as containerd serves it. */
const CONTAINERD = protobuf.parse(`
  syntax = "proto3";
  package containerd.services.tasks.v1;
  service Tasks { rpc Delete(DeleteTaskRequest) returns (DeleteResponse); }
  message DeleteTaskRequest { string container_id = 1; }
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }
  message DeleteResponse { string id = 1; uint32 pid = 2; uint32 exit_status = 3; Timestamp exited_at = 4; }
`).root;

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

type Answer = { readonly code: status; readonly details: string } | null;

async function containerd(answer: Answer, asked: unknown[] = []): Promise<string> {
  const endpoint = newEndpoint();
  const definition = fromJSON(CONTAINERD.toJSON())['containerd.services.tasks.v1.Tasks'] as ServiceDefinition;
  await started(
    serve(endpoint, (to) => {
      to.addService(definition, {
        Delete: (
          { request, metadata }: ServerUnaryCall<{ readonly containerId: string }, object>,
          done: (error: Answer, answer?: object) => void,
        ) => {
          asked.push([request.containerId, ...metadata.get('containerd-namespace')]);
          if (answer) done(answer);
          else done(null, { id: 'c1', pid: 70_000, exitStatus: 137, exitedAt: { seconds: 1 } });
        },
      });
    }),
  );
  return endpoint;
}

describe('deleteContainerdTask', () => {
  test('asks containerd to forget the task, in the namespace of Kubernetes', async () => {
    const asked: unknown[] = [];
    const endpoint = await containerd(null, asked);
    await lastValueFrom(deleteContainerdTask(endpoint, 'c1'), { defaultValue: undefined });
    expect(asked).toEqual([['c1', 'k8s.io']]);
  });

  test('is content where there is no such task', async () => {
    const endpoint = await containerd({ code: status.NOT_FOUND, details: 'no task' });
    await lastValueFrom(deleteContainerdTask(endpoint, 'c1'), { defaultValue: undefined });
  });

  test('is content on a runtime that is not containerd', async () => {
    const endpoint = newEndpoint();
    await started(fakeRuntime(endpoint, {}));
    await lastValueFrom(deleteContainerdTask(endpoint, 'c1'), { defaultValue: undefined });
  });

  test('tells when a process of the task is left', async () => {
    const endpoint = await containerd({ code: status.FAILED_PRECONDITION, details: 'task must be stopped' });
    await expect(
      lastValueFrom(deleteContainerdTask(endpoint, 'c1'), { defaultValue: undefined }),
    ).rejects.toMatchObject({ kind: 'refused', message: 'task must be stopped' });
  });
});

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
