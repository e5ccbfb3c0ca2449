import { Client, credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { Buffer } from 'node:buffer';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { firstValueFrom, Subject, Subscription } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { framed } from '../../../../src/runtime/grpc/framing.ts';
import { grpcClient } from '../../../../src/runtime/grpc/grpc-client.ts';
import { grpcServer, type IncomingCall } from '../../../../src/runtime/grpc/grpc-server.ts';
import { GrpcError } from '../../../../src/runtime/grpc/grpc-status.ts';
import { listenOnSocket } from '../../../../src/server/listen-on-socket.ts';
import { socketDir } from '../cri/fake-runtime.ts';
import { unexpected } from '../../../marbles/operators/unexpected.ts';

const MIB = 1024 * 1024;
const PATH = '/test.Echo/Say';
const raw = (bytes: Buffer): Buffer => bytes;

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

describe('grpcServer', () => {
  test('answers a client of another make, and ours', async () => {
    const { endpoint, path } = await serving((call) => {
      call.answer(Buffer.concat([Buffer.from('you said '), call.message]));
      call.end();
    });

    expect(await say(endpoint, 'hello')).toBe('you said hello');
    const client = grpcClient(path);
    held.add(() => {
      client.close();
    });
    const said = await new Promise<string>((resolve, reject) => {
      client.call({
        path: PATH,
        message: Buffer.from('hello'),
        onMessage: (message) => {
          resolve(message.toString());
        },
        onEnd: (error) => {
          if (error) reject(error);
        },
      });
    });
    expect(said).toBe('you said hello');
  });

  test('gives each failure its status and its words, whatever they are made of', async () => {
    const words = '50 % of "größe" is\nnot there ☂';
    const { endpoint } = await serving((call) => {
      call.end(new GrpcError('NotFound', words));
    });

    await expect(say(endpoint, 'x')).rejects.toMatchObject({ code: status.NOT_FOUND, details: words });
  });

  test('streams answers as they come, then ends', async () => {
    const { endpoint } = await serving((call) => {
      call.answer(Buffer.from('one'));
      call.answer(Buffer.from('two'));
      call.end();
    });
    const client = clientOf(endpoint);
    const heard: string[] = [];
    const stream = client.makeServerStreamRequest(PATH, raw, raw, Buffer.from('go'), new Metadata());
    stream.on('data', (message: Buffer) => heard.push(message.toString()));
    const ended = await new Promise((resolve) =>
      stream.on('status', ({ code }) => {
        resolve(code);
      }),
    );

    expect(heard).toEqual(['one', 'two']);
    expect(ended).toBe(status.OK);
  });

  test('ends a call at the deadline that the client has told, and lets go of its work', async () => {
    const overs = new Subject<string>();
    const { endpoint } = await serving((call) => {
      call.over$.subscribe({
        next: () => {
          overs.next('let go');
        },
        error: unexpected,
      });
    });
    const over = firstValueFrom(overs);

    // A client that does not look at the clock itself: only the server ends this.
    const { headers } = await rawCall(endpoint, { 'grpc-timeout': '100m' }, framed(Buffer.from('x')));
    expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '4' });
    await expect(over).resolves.toBe('let go');
  });

  test('lets go of the work of a call that was cancelled, and of a client that is gone', async () => {
    const overs = new Subject<string>();
    const arrived = new Subject<void>();
    const { endpoint } = await serving((call) => {
      call.over$.subscribe({
        next: () => {
          overs.next(call.message.toString());
        },
        error: unexpected,
      });
      arrived.next();
    });

    const client = clientOf(endpoint);
    const begun = firstValueFrom(arrived);
    const cancelled = firstValueFrom(overs);
    const call = client.makeUnaryRequest(PATH, raw, raw, Buffer.from('cancelled'), () => undefined);
    await begun;
    call.cancel();
    await expect(cancelled).resolves.toBe('cancelled');

    const gone = firstValueFrom(overs);
    const session = connectHttp2('http://localhost', {
      createConnection: () => connectSocket(endpoint.slice('unix://'.length)),
    });
    session.on('error', () => undefined);
    const again = firstValueFrom(arrived);
    const stream = session.request(GRPC_HEADERS);
    stream.on('error', () => undefined);
    stream.end(framed(Buffer.from('gone')));
    await again;
    session.destroy();
    await expect(gone).resolves.toBe('gone');
  });

  test('takes and gives messages of 16 MiB, and says the sizes of one that is larger', async () => {
    let size = 16 * MIB;
    const { endpoint } = await serving((call) => {
      call.answer(Buffer.alloc(size, call.message.length === 16 * MIB ? 'x' : 'y'));
      call.end();
    });

    expect((await sayBytes(endpoint, Buffer.alloc(16 * MIB))).equals(Buffer.alloc(16 * MIB, 'x'))).toBe(true);
    await expect(sayBytes(endpoint, Buffer.alloc(16 * MIB + 1))).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: `received message larger than max (${16 * MIB + 1} vs. ${16 * MIB})`,
    });
    size += 1;
    await expect(say(endpoint, 'hi')).rejects.toMatchObject({
      code: status.RESOURCE_EXHAUSTED,
      details: `trying to send message larger than max (${16 * MIB + 1} vs. ${16 * MIB})`,
    });
  });

  test('refuses what is compressed, and says what it can read', async () => {
    const { endpoint } = await serving((call) => {
      call.end();
    });

    const told = await rawCall(endpoint, { 'grpc-encoding': 'gzip' }, framed(Buffer.from('x')));
    expect(told.headers).toMatchObject({ 'grpc-status': '12', 'grpc-accept-encoding': 'identity' });
    const untold = await rawCall(endpoint, {}, Buffer.from([1, 0, 0, 0, 1, 120]));
    expect(untold.headers).toMatchObject({ 'grpc-status': '12', 'grpc-message': 'the message is compressed' });
  });

  test.each([
    ['no message', Buffer.alloc(0)],
    ['half a message', Buffer.from([0, 0, 0, 0, 9, 1])],
    ['two messages', Buffer.concat([framed(Buffer.from('a')), framed(Buffer.from('b'))])],
  ])('refuses a call with %s', async (_, body) => {
    const { endpoint } = await serving((call) => {
      call.end();
    });

    const { headers } = await rawCall(endpoint, {}, body);
    expect(headers).toMatchObject({ 'grpc-status': '13', 'grpc-message': 'the call must hold exactly one message' });
  });

  test('serves on after clients that do not speak gRPC, or HTTP/2, or end in the middle', async () => {
    const { endpoint, path } = await serving((call) => {
      call.answer(call.message);
      call.end();
    });

    const plain = await rawCall(endpoint, { 'content-type': 'application/json' }, Buffer.from('{}'));
    expect(plain.headers).toEqual({ ':status': 415 });
    await new Promise<void>((resolve) => {
      const socket = connectSocket(path, () => {
        socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve();
      });
      socket.resume();
    });
    const half = connectSocket(path, () => {
      half.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', () => half.destroy());
    });
    await new Promise((resolve) => half.on('close', resolve));

    expect(await say(endpoint, 'still here')).toBe('still here');
  });

  test('gives up on a client that does not read what it has asked for', async () => {
    const overs = new Subject<string>();
    const { path } = await serving((call) => {
      call.over$.subscribe({
        next: () => {
          overs.next('given up');
        },
        error: unexpected,
      });
      for (let sent = 0; sent < 10; sent += 1) call.answer(Buffer.alloc(8 * MIB));
    });
    const over = firstValueFrom(overs);
    const session = connectHttp2('http://localhost', { createConnection: () => connectSocket(path) });
    session.on('error', () => undefined);
    held.add(() => {
      session.destroy();
    });
    const stream = session.request(GRPC_HEADERS);
    stream.on('error', () => undefined);
    stream.end(framed(Buffer.from('x'))); // never read from

    await expect(over).resolves.toBe('given up');
  });
});

const GRPC_HEADERS = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', te: 'trailers' };

async function serving(
  hear: (call: IncomingCall) => void,
): Promise<{ readonly endpoint: string; readonly path: string }> {
  const dir = socketDir();
  const endpoint = dir.endpoint('grpc.sock');
  const path = endpoint.slice('unix://'.length);
  const listens = new Promise<void>((resolve, reject) => {
    held.add(
      listenOnSocket({ socket: path, who: 'server' }, grpcServer).subscribe({
        next: (event) => {
          if (event.kind === 'listening') resolve();
          else hear(event);
        },
        error: reject,
      }),
    );
  });
  held.add(() => {
    dir[Symbol.dispose]();
  });
  await listens;
  return { endpoint, path };
}

function clientOf(endpoint: string): Client {
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  held.add(() => {
    client.close();
  });
  return client;
}

async function say(endpoint: string, text: string): Promise<string> {
  return (await sayBytes(endpoint, Buffer.from(text))).toString();
}

function sayBytes(endpoint: string, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    clientOf(endpoint).makeUnaryRequest(PATH, raw, raw, bytes, (error: ServiceError | null, answer?: Buffer) => {
      if (error) reject(error);
      else resolve(answer ?? Buffer.alloc(0));
    });
  });
}

/** What comes back to a client that sends these bytes, whatever they are. */
function rawCall(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<{ readonly headers: IncomingHttpHeaders }> {
  const session = connectHttp2('http://localhost', {
    createConnection: () => connectSocket(endpoint.slice('unix://'.length)),
  });
  held.add(() => {
    session.destroy();
  });
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...GRPC_HEADERS, ...headers });
    let got: IncomingHttpHeaders = {};
    const note = (more: IncomingHttpHeaders): void => {
      got = { ...got, ...Object.fromEntries(Object.entries(more).filter(([name]) => name !== 'date')) };
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('error', reject);
    stream.on('close', () => {
      resolve({ headers: got });
    });
    stream.resume();
    stream.end(body);
  });
}
