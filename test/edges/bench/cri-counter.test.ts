import { Client, credentials, status } from '@grpc/grpc-js';
import { Buffer } from 'node:buffer';
import { Subscription } from 'rxjs';
import { afterEach, describe, expect, test } from 'vitest';
import { criCounter, type CriCounter } from '../../../bench/cri-counter.ts';
import { grpcServer, type IncomingCall } from '../../../src/runtime/grpc/grpc-server.ts';
import { GrpcError } from '../../../src/runtime/grpc/grpc-status.ts';
import { listenOnSocket } from '../../../src/server/listen-on-socket.ts';
import { socketDir } from '../runtime/cri/fake-runtime.ts';
import { unexpected } from '../../marbles/operators/unexpected.ts';

const raw = (bytes: Buffer): Buffer => bytes;
const ENDLESS = '/runtime.v1.RuntimeService/GetContainerEvents';

let held = new Subscription();
afterEach(() => {
  held.unsubscribe();
  held = new Subscription();
});

describe('criCounter', () => {
  test('passes calls on, answers and failures as they are, and has noted each', async () => {
    const { client, counter } = await counted((call) => {
      if (call.path.endsWith('/Version')) {
        call.answer(Buffer.concat([Buffer.from('you said '), call.message]));
        call.end();
      } else call.end(new GrpcError('NotFound', 'there is no such thing'));
    });
    const before = Date.now();

    expect(await say(client, '/runtime.v1.RuntimeService/Version', 'hello')).toBe('you said hello');
    await expect(say(client, '/runtime.v1.RuntimeService/StopContainer', 'x')).rejects.toMatchObject({
      code: status.NOT_FOUND,
      details: 'there is no such thing',
    });
    const large = 'x'.repeat(3 * 1024 * 1024);
    expect(await say(client, '/runtime.v1.RuntimeService/Version', large)).toBe(`you said ${large}`);

    expect(counter.calls().map(({ path }) => path.slice(path.lastIndexOf('/') + 1))).toEqual([
      'Version',
      'StopContainer',
      'Version',
    ]);
    for (const { at } of counter.calls()) expect(at).toBeGreaterThanOrEqual(before);
  });

  test('hands on the end of a call that its client has cancelled', async () => {
    const over = new Promise<void>((resolve, reject) => {
      void counted((call) => {
        call.answer(Buffer.from('first'));
        call.over$.subscribe({
          next: () => {
            resolve();
          },
          error: unexpected,
        });
      }).then(({ client }) => {
        const stream = client.makeServerStreamRequest(ENDLESS, raw, raw, Buffer.from(''));
        stream.on('error', () => undefined); // that it was cancelled
        stream.on('data', () => {
          stream.cancel();
        });
      }, reject);
    });

    await over;
  });
});

async function counted(
  answer: (call: IncomingCall) => void,
): Promise<{ readonly client: Client; readonly counter: CriCounter }> {
  const folder = socketDir();
  held.add(() => {
    folder[Symbol.dispose]();
  });
  const [runtime, passing] = ['runtime.sock', 'counter.sock'].map((name) =>
    folder.endpoint(name).slice('unix://'.length),
  );
  await new Promise<void>((resolve, reject) => {
    held.add(
      listenOnSocket({ socket: runtime ?? '', who: 'server' }, grpcServer).subscribe({
        next: (event) => {
          if (event.kind === 'listening') resolve();
          else answer(event);
        },
        error: reject,
      }),
    );
  });
  const counter = await criCounter(passing ?? '', runtime ?? '');
  const client = new Client(folder.endpoint('counter.sock'), credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
  });
  held.add(() => {
    client.close();
    counter.close();
  });
  return { client, counter };
}

function say(client: Client, path: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, raw, raw, Buffer.from(text), (error, answer) => {
      if (error) reject(error);
      else resolve(answer?.toString() ?? '');
    });
  });
}
