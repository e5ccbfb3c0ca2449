import { status } from '@grpc/grpc-js';
import {
  firstValueFrom,
  lastValueFrom,
  retry,
  Subject,
  Subscription,
  take,
  takeUntil,
  toArray,
  type Observable,
} from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { RuntimeError } from '../../../../src/model/errors.ts';
import { connectCri } from '../../../../src/runtime/cri/connect-cri.ts';
import type { Cri } from '../../../../src/streams/ports/cri.ts';
import { fakeRuntime, socketDir, type Handlers } from './fake-runtime.ts';

const MIB = 1024 * 1024;
const HOUR = 3_600_000;

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

describe('connectCri', () => {
  test('decodes answers as the types say: zero values absent, lists always there, times as numbers', async () => {
    const cri = await connected({
      ListPodSandbox: (_, answer) => {
        answer(null, {
          items: [{ id: 's1', createdAt: 1_700_000_000_000_000_000, labels: { a: 'b' } }],
        });
      },
      PodSandboxStatus: (_, answer) => {
        answer(null, { status: { id: 's1', state: 'SANDBOX_NOTREADY', network: {} } });
      },
    });

    await expect(firstValueFrom(cri.listPodSandbox({}))).resolves.toEqual({
      items: [{ id: 's1', createdAt: 1_700_000_000_000_000_000, labels: { a: 'b' } }],
    });
    await expect(firstValueFrom(cri.podSandboxStatus({ podSandboxId: 's1' }))).resolves.toEqual({
      status: { id: 's1', state: 'SANDBOX_NOTREADY', network: { additionalIps: [] } },
      containersStatuses: [],
    });
  });

  test('sends requests whole: enums, maps, signed numbers, and environment values that are not UTF-8', async () => {
    const seen = new Subject<unknown>();
    const cri = await connected({
      CreateContainer: ({ request }, answer) => {
        seen.next(request.config);
        answer(null, { containerId: 'c1' });
      },
    });
    const received = firstValueFrom(seen);

    const answer$ = cri.createContainer({
      podSandboxId: 's1',
      config: {
        envs: [{ key: 'RAW', value: Uint8Array.of(0xff, 0x00) }],
        labels: { app: 'web' },
        linux: {
          resources: { cpuQuota: -1, oomScoreAdj: -997 },
          securityContext: { namespaceOptions: { pid: 'CONTAINER' }, supplementalGroups: [1000] },
        },
      },
    });

    await expect(firstValueFrom(answer$)).resolves.toEqual({ containerId: 'c1' });
    await expect(received).resolves.toMatchObject({
      envs: [{ key: 'RAW', value: Buffer.of(0xff, 0x00) }],
      labels: { app: 'web' },
      linux: {
        resources: { cpuQuota: -1, oomScoreAdj: -997 },
        securityContext: { namespaceOptions: { pid: 'CONTAINER' }, supplementalGroups: [1000] },
      },
    });
  });

  test('sends a call at each subscription and never before', async () => {
    let calls = 0;
    const cri = await connected({
      Version: (_, answer) => {
        calls += 1;
        answer(null, { runtimeName: `call ${calls}` });
      },
    });
    const version$ = cri.version();

    await expect(firstValueFrom(version$)).resolves.toEqual({ runtimeName: 'call 1' });
    await expect(firstValueFrom(version$)).resolves.toEqual({ runtimeName: 'call 2' });
    expect(calls).toBe(2);
  });

  test('emits undefined once for a call whose answer says nothing', async () => {
    const cri = await connected({
      StopPodSandbox: (_, answer) => {
        answer(null, {});
      },
    });

    await expect(lastValueFrom(cri.stopPodSandbox({ podSandboxId: 's1' }).pipe(toArray()))).resolves.toEqual([
      undefined,
    ]);
  });

  test('cancels the call at the runtime when unsubscribed', async () => {
    const arrived = new Subject<void>();
    const cancelled = new Subject<string>();
    const cri = await connected({
      PullImage: (call) => {
        call.on('cancelled', () => {
          cancelled.next(call.request.image?.image ?? '');
        });
        arrived.next();
      },
    });
    const cancellation = firstValueFrom(cancelled);

    await lastValueFrom(cri.pullImage({ image: { image: 'busybox' } }).pipe(takeUntil(arrived)), {
      defaultValue: 'none',
    });

    await expect(cancellation).resolves.toBe('busybox');
  });

  test('lets the start of a container end unheard when unsubscribed', async () => {
    const arrived = new Subject<void>();
    const seen: string[] = [];
    const cri = await connected({
      StartContainer: (call, answer) => {
        arrived.next();
        // The next call of the same client comes after any news that this one was given up.
        later = () => {
          seen.push(call.cancelled ? 'given up' : 'started');
          answer(null, {});
        };
      },
      StopPodSandbox: (_call, answer) => {
        later();
        answer(null, {});
      },
    });
    let later = (): void => undefined;

    await lastValueFrom(cri.startContainer({ containerId: 'c1' }).pipe(takeUntil(arrived)), {
      defaultValue: undefined,
    });
    await lastValueFrom(cri.stopPodSandbox({ podSandboxId: 's1' }));

    expect(seen).toEqual(['started']);
  });

  test('gives up at the deadline', async () => {
    const cri = await connected({ Status: () => undefined }, 200);

    await expect(failureOf(cri.status())).resolves.toMatchObject({ kind: 'deadline', call: 'Status' });
  });

  test('tells the runtime how long each call may take', async () => {
    const deadline = new Subject<number>();
    const tell = (
      call: { getDeadline: () => Date | number },
      answer: (error: null, value: Record<string, never>) => void,
    ): void => {
      answer(null, {});
      deadline.next(Number(call.getDeadline()) - Date.now());
    };
    const cri = await connected(
      { Version: tell, RunPodSandbox: tell, StopContainer: tell, ExecSync: tell, PullImage: tell },
      HOUR,
    );
    const hours = async (call$: Observable<unknown>): Promise<number> => {
      const [left] = await Promise.all([firstValueFrom(deadline), firstValueFrom(call$)]);
      return Math.round(left / HOUR);
    };

    expect(await hours(cri.version())).toBe(1);
    expect(await hours(cri.runPodSandbox({}))).toBe(2);
    expect(await hours(cri.stopContainer({ timeout: 7_200 }))).toBe(3);
    expect(await hours(cri.execSync({ timeout: 3_600 }))).toBe(2);
    expect(await hours(cri.execSync({}))).toBe(Infinity);
    expect(await hours(cri.pullImage({}))).toBe(Infinity);
  });

  test.each([
    [status.NOT_FOUND, 'notFound'],
    [status.ALREADY_EXISTS, 'alreadyExists'],
    [status.UNAVAILABLE, 'unavailable'],
    [status.DEADLINE_EXCEEDED, 'deadline'],
    [status.CANCELLED, 'unavailable'],
    [status.INTERNAL, 'refused'],
    [status.UNKNOWN, 'refused'],
  ])('turns status %i into an error of kind %s, with the words of the runtime', async (code, kind) => {
    const cri = await connected({
      StopContainer: (_, answer) => {
        answer({ code, details: 'no such thing' });
      },
    });

    const failure = await failureOf(cri.stopContainer({ containerId: 'c1' }));
    expect(failure).toBeInstanceOf(RuntimeError);
    expect(failure).toMatchObject({ kind, call: 'StopContainer', message: 'no such thing' });
  });

  test('says unimplemented where the runtime does not know the call', async () => {
    const cri = await connected({});

    await expect(failureOf(cri.runtimeConfig())).resolves.toMatchObject({
      kind: 'unimplemented',
      call: 'RuntimeConfig',
    });
    await expect(failureOf(cri.containerEvents())).resolves.toMatchObject({ kind: 'unimplemented' });
  });

  test('takes answers of 6 MiB, and refuses those beyond 16 MiB', async () => {
    let size = 6 * MIB;
    const cri = await connected({
      ListContainers: (_, answer) => {
        answer(null, { containers: [{ id: 'c1', annotations: { large: 'x'.repeat(size) } }] });
      },
    });

    const { containers } = await firstValueFrom(cri.listContainers({}));
    expect(containers?.[0]?.annotations?.['large']?.length).toBe(6 * MIB);
    size = 17 * MIB;
    await expect(failureOf(cri.listContainers({}))).resolves.toMatchObject({ kind: 'refused' });
  });

  test('is unavailable while there is no runtime, and back once there is', async () => {
    using dir = socketDir();
    const endpoint = dir.endpoint('late.sock');
    const cri = await connection(endpoint);

    await expect(failureOf(cri.version())).resolves.toMatchObject({ kind: 'unavailable', call: 'Version' });
    await listening(endpoint, {
      Version: (_, answer) => {
        answer(null, { version: 'late' });
      },
    });
    await expect(firstValueFrom(patiently(cri.version()))).resolves.toEqual({ version: 'late' });
  });

  test('fails the call in flight when the runtime goes, and reaches its successor by itself', async () => {
    using dir = socketDir();
    const endpoint = dir.endpoint('cri.sock');
    const arrived = new Subject<void>();
    const first = await listening(endpoint, {
      Status: () => {
        arrived.next();
      },
    });
    const cri = await connection(endpoint);
    const inFlight = failureOf(cri.status());
    await firstValueFrom(arrived);

    first.unsubscribe();
    await expect(inFlight).resolves.toMatchObject({ kind: 'unavailable' });
    await expect(failureOf(cri.version())).resolves.toMatchObject({ kind: 'unavailable' });
    await listening(endpoint, {
      Version: (_, answer) => {
        answer(null, { version: 'second' });
      },
    });
    await expect(firstValueFrom(patiently(cri.version()))).resolves.toEqual({ version: 'second' });
  });

  test('asks for images where images are served', async () => {
    using dir = socketDir();
    await listening(dir.endpoint('run.sock'), {
      Version: (_, answer) => {
        answer(null, { runtimeName: 'runner' });
      },
    });
    await listening(dir.endpoint('img.sock'), {
      ImageStatus: (_, answer) => {
        answer(null, {});
      },
    });
    const cri = await connection(dir.endpoint('run.sock'), HOUR, dir.endpoint('img.sock'));

    await expect(firstValueFrom(cri.version())).resolves.toEqual({ runtimeName: 'runner' });
    await expect(firstValueFrom(cri.imageStatus({}))).resolves.toEqual({});
  });

  test('refuses calls once it is unsubscribed', async () => {
    const cri = await connected({
      Version: (_, answer) => {
        answer(null, {});
      },
    });
    held.unsubscribe();

    const failure = await failureOf(cri.version());
    expect(failure).toBeInstanceOf(RuntimeError);
    expect(failure).toMatchObject({ kind: 'refused', call: 'Version' });
  });
});

describe('containerEvents', () => {
  test('emits each event and errors when the runtime goes', async () => {
    using dir = socketDir();
    const endpoint = dir.endpoint('cri.sock');
    const server = await listening(endpoint, {
      GetContainerEvents: (call) => {
        call.write({ containerId: 'c1', containerEventType: 'CONTAINER_STOPPED_EVENT', createdAt: 5 });
      },
    });
    const cri = await connection(endpoint);
    const events = new Subject<unknown>();
    const first = firstValueFrom(events);
    const failure = failureOf(cri.containerEvents(), (event) => {
      events.next(event);
    });

    await expect(first).resolves.toEqual({
      containerId: 'c1',
      containerEventType: 'CONTAINER_STOPPED_EVENT',
      createdAt: 5,
      containersStatuses: [],
    });
    server.unsubscribe();
    await expect(failure).resolves.toMatchObject({ kind: 'unavailable', call: 'GetContainerEvents' });
  });

  test('errors when the runtime ends the stream politely, for news would be missed', async () => {
    const cri = await connected({
      GetContainerEvents: (call) => {
        call.end();
      },
    });

    await expect(failureOf(cri.containerEvents())).resolves.toMatchObject({
      kind: 'unavailable',
      message: 'the runtime ended the stream',
    });
  });

  test('stops at the runtime when unsubscribed', async () => {
    const cancelled = new Subject<string>();
    const cri = await connected({
      GetContainerEvents: (call) => {
        call.on('cancelled', () => {
          cancelled.next('stopped');
        });
        call.write({ containerId: 'c1' });
      },
    });
    const stopped = firstValueFrom(cancelled);

    await lastValueFrom(cri.containerEvents().pipe(take(1)));

    await expect(stopped).resolves.toBe('stopped');
  });
});

/** A port to a fake runtime that answers with these handlers. */
async function connected(handlers: Handlers, requestTimeout = HOUR): Promise<Cri> {
  const dir = socketDir();
  held.add(() => {
    dir[Symbol.dispose]();
  });
  await listening(dir.endpoint('cri.sock'), handlers);
  return connection(dir.endpoint('cri.sock'), requestTimeout);
}

async function listening(endpoint: string, handlers: Handlers): Promise<Subscription> {
  const started = new Subject<unknown>();
  const listens = firstValueFrom(started);
  const server = fakeRuntime(endpoint, handlers).subscribe(started);
  held.add(server);
  await listens;
  return server;
}

async function connection(
  runtimeEndpoint: string,
  requestTimeout = HOUR,
  imageEndpoint = runtimeEndpoint,
): Promise<Cri> {
  const emitted = new Subject<Cri>();
  const cri = firstValueFrom(emitted);
  held.add(connectCri({ runtimeEndpoint, imageEndpoint, requestTimeout }).subscribe(emitted));
  return cri;
}

/** What a call fails with; never resolves while it does not fail. */
function failureOf(call$: Observable<unknown>, onValue: (value: unknown) => void = () => undefined): Promise<unknown> {
  return new Promise((resolve) => {
    held.add(call$.subscribe({ next: onValue, error: resolve }));
  });
}

function patiently<T>(call$: Observable<T>): Observable<T> {
  return call$.pipe(retry({ delay: 50 }));
}
