import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { shell } from './harness/pod-json.ts';
import { tellStory } from './harness/story.ts';
import { sharedNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';
import { HOST } from './harness/runtime-look.ts';

const MIB = 1024 * 1024;
const node = sharedNode('--container-log-max-size=1Mi', '--container-log-max-files=3');

function logsPath(pod: string, query = ''): string {
  return `/containerLogs/default/${pod}-${HOST}/main${query}`;
}

/** The body of an answer, as it comes. */
function fetchText(
  socketPath: string,
  path: string,
  onChunk: (chunk: string) => void = () => undefined,
  method = 'GET',
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, method, agent: false }, (response) => {
      const chunks: string[] = [];
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        chunks.push(chunk);
        onChunk(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: chunks.join('') });
      });
    });
    call.on('error', reject);
    call.end();
  });
}

async function whenShown(pod: string): Promise<void> {
  await until(
    `${pod} to be shown as running`,
    async () => (await node().pod(pod))?.status.containerStatuses?.[0]?.state?.running !== undefined,
  );
}

interface Talk {
  readonly socket: WebSocket;
  /** What came on each channel so far. */
  readonly heard: (channel: number) => Buffer;
  readonly closed: Promise<void>;
}

function talk({ paths }: TestNode, path: string, protocol = 'v4.channel.k8s.io'): Promise<Talk> {
  const socket = new WebSocket(`ws+unix:${paths.socket}:${path}`, protocol);
  const channels = new Map<number, Buffer[]>();
  socket.on('message', (data: Buffer) => {
    const channel = data[0] ?? 0;
    channels.set(channel, [...(channels.get(channel) ?? []), data.subarray(1)]);
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      resolve();
    });
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => {
      resolve({ socket, closed, heard: (channel) => Buffer.concat(channels.get(channel) ?? []) });
    });
  });
}

describe('the log of a container', () => {
  test('is served as a whole, from its end, of one stream, and of the instance before', async () => {
    const story = tellStory(node(), 'talker');
    story.tell({
      containers: [
        shell(
          'main',
          'if [ -e /node/again ]; then echo second; sleep 3600; fi; touch /node/again; for i in 1 2 3; do echo line $i; done; echo oops >&2; sleep 1; exit 1',
        ),
      ],
    });
    const { socket } = node().paths;
    await until(
      'the second instance to talk',
      async () => (await fetchText(socket, logsPath('talker'))).text === 'second\n',
    );
    const before = await fetchText(socket, logsPath('talker', '?previous=true'));
    expect(before.text.split('\n').toSorted()).toEqual(['', 'line 1', 'line 2', 'line 3', 'oops']);
    expect((await fetchText(socket, logsPath('talker', '?previous=true&stream=Stderr'))).text).toBe('oops\n');
    const last = await fetchText(
      socket,
      logsPath('talker', '?previous=true&stream=Stdout&tailLines=1&timestamps=true'),
    );
    expect(last.text).toMatch(/^\d{4}-\d\d-\d\dT\S+ line 3\n$/);
    expect(await fetchText(socket, '/containerLogs/default/nobody/main')).toMatchObject({ status: 404 });
  });

  test('user-asks 65: is followed over rotations without losing or doubling a line, to the end of the container', async () => {
    const story = tellStory(node(), 'counter');
    const lines = 20_000; // of which no part is removed, however slowly they are read
    story.tell({
      restartPolicy: 'Never',
      containers: [
        shell(
          'main',
          `until [ -e /node/go ]; do sleep 0.1; done; i=0; while [ $i -lt ${lines} ]; do echo "$i ${'x'.repeat(100)}"; i=$((i+1)); done`,
        ),
      ],
    });
    await whenShown('counter');
    const { socket } = node().paths;
    const following = fetchText(socket, logsPath('counter', '?follow=true'));
    story.open('go');
    const { text } = await following;
    const numbers = text
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.split(' ')[0]));
    expect(numbers.length).toBe(lines);
    expect(numbers.findIndex((number, index) => number !== index)).toBe(-1);
    expect(node().log()).not.toContain('not rotated');
  });

  test('user-asks 64: of one that writes fast stays under its limit, over restarts too', async () => {
    const story = tellStory(node(), 'noisy');
    story.tell({
      containers: [
        shell(
          'main',
          `i=0; while [ $i -lt 40 ]; do dd if=/dev/zero bs=10000 count=20 2>/dev/null | tr '\\0' 'x' | fold -w 1000; sleep 0.1; i=$((i+1)); done; exit 1`,
        ),
      ],
    });
    const uid = (await until('noisy to be served', () => node().pod('noisy'))).metadata.uid;
    const folder = join('/var/log/pods', `default_noisy-${HOST}_${uid}`, 'main');
    const sizes: number[] = [];
    await until('three instances', () => {
      const files = filesOf(folder);
      sizes.push(files.reduce((sum, { size }) => sum + size, 0));
      return files.some(({ name }) => name === '2.log');
    });
    // It writes 8 MB each time, 16 until then. What waits to be compressed, and what is written between two looks of a busy
    // agent, may come on top.
    expect(Math.max(...sizes)).toBeLessThan(14 * MIB);
    await until('it to be within its limit', () => {
      const files = filesOf(folder);
      return files.length <= 4 && files.reduce((sum, { size }) => sum + size, 0) <= 3 * MIB + 64 * 1024;
    });
  });

  test('is compressed part by part, of which the newest stays as it is', async () => {
    const story = tellStory(node(), 'chapters');
    const write = `dd if=/dev/zero bs=10000 count=110 2>/dev/null | tr '\\0' 'x' | fold -w 1000; echo`;
    const chapter = (go: string, title: string): string =>
      `until [ -e /node/${go} ]; do sleep 0.1; done; echo ${title}; ${write}`;
    story.tell({
      containers: [shell('main', [chapter('one', 'first'), chapter('two', 'second'), 'sleep 3600'].join('; '))],
    });
    const uid = (await until('chapters to be served', () => node().pod('chapters'))).metadata.uid;
    const folder = join('/var/log/pods', `default_chapters-${HOST}_${uid}`, 'main');
    const parts = (): readonly string[] => namesOf(folder).filter((name) => name.startsWith('0.log.'));
    await whenShown('chapters');
    story.open('one');
    // Once the log is there again, the runtime writes to it.
    const [first] = await until(
      'the first part',
      () => namesOf(folder).includes('0.log') && parts().length > 0 && parts(),
    );
    story.open('two');
    const names = await until('the first to be compressed', () =>
      parts().length === 2 && parts().includes(`${first}.gz`) ? parts() : undefined,
    );
    expect(names.filter((name) => name.endsWith('.gz'))).toEqual([`${first}.gz`]);
    const packed = gunzipSync(readFileSync(join(folder, `${first}.gz`))).toString();
    expect(packed).toMatch(/ stdout F first\n/);
    expect(packed).not.toContain('second');
  });
});

describe('a connection to a container', () => {
  test('runs a command with input and output, and tells its exit code', async () => {
    const story = tellStory(node(), 'shell');
    story.tell({ containers: [shell('main', 'sleep 3600')] });
    await whenShown('shell');
    const pod = `default/shell-${HOST}`;
    const words = ['sh', '-c', 'read line; echo "heard $line"; echo oops >&2; exit 3'];
    const command = words.map((word) => `command=${encodeURIComponent(word)}`).join('&');
    const { socket, heard, closed } = await talk(node(), `/exec/${pod}/main?${command}&input=1&output=1&error=1`);
    socket.send(Buffer.concat([Buffer.from([0]), Buffer.from('hello\n')]));
    await closed;
    expect(heard(1).toString()).toBe('heard hello\n');
    expect(heard(2).toString()).toBe('oops\n');
    expect(JSON.parse(heard(3).toString())).toMatchObject({
      status: 'Failure',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    });

    const run = await fetchText(node().paths.socket, `/run/${pod}/main?cmd=echo%20ran`, undefined, 'POST');
    expect(run).toEqual({ status: 200, text: 'ran\n' });
  });

  test('joins its first process, which goes on when the client has gone', async () => {
    const run = 'while read -r line; do echo "heard $line"; done; echo no more';
    tellStory(node(), 'listener').tell({ containers: [shell('main', run, { stdin: true })] });
    await whenShown('listener');
    const path = `/attach/default/listener-${HOST}/main?input=1&output=1&error=1`;
    for (const word of ['hello', 'again']) {
      const { socket, heard, closed } = await talk(node(), path);
      await until('the answer of the process', () => {
        // Again each time: the runtime may pass on input before it passes on output.
        socket.send(Buffer.from(`\0${word}\n`));
        return heard(1).toString().includes(`heard ${word}\n`);
      });
      socket.close();
      await closed;
    }
    expect(await node().running('listener')).toHaveLength(1);
  });
});

describe('a connection to a port', () => {
  test('is a WebSocket whose channels first tell the port, and then carry data', async () => {
    const story = tellStory(node(), 'web');
    story.tell({
      containers: [shell('main', 'echo hello > /tmp/index.html; exec httpd -f -p 127.0.0.1:8080 -h /tmp')],
    });
    await whenShown('web');
    const path = `/portForward/default/web-${HOST}?port=8080`;
    const port = Buffer.from([0x90, 0x1f]);
    const get = Buffer.from('\0GET /index.html HTTP/1.0\r\n\r\n');
    const data = await until('the server to listen', async () => {
      const { socket, heard, closed } = await talk(node(), path);
      socket.send(get);
      await closed;
      expect(heard(1).subarray(0, 2)).toEqual(port);
      return heard(0).length > 2 && heard(0);
    });
    expect(data.subarray(0, 2)).toEqual(port);
    expect(data.toString()).toContain('hello');

    const { heard, closed } = await talk(node(), path.replace('8080', '8081'));
    await closed;
    expect(heard(1).toString()).toContain('connection refused');
  });
});

function namesOf(folder: string): readonly string[] {
  return filesOf(folder).map(({ name }) => name);
}

function filesOf(folder: string): readonly { readonly name: string; readonly size: number }[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
      return size === undefined ? [] : [{ name, size }];
    });
  } catch {
    return [];
  }
}
