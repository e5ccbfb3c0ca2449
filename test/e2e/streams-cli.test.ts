import { get } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { RXLET } from './harness/agent.ts';
import { shell } from './harness/pod-json.ts';
import { command, rxlet, type Running, type Said } from './harness/rxlet.ts';
import { ECHO, tellStory, waitFor } from './harness/story.ts';
import { sharedNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const node = sharedNode();

/** Resolves once every container of a pod is shown as running. */
async function whenShown(pod: string): Promise<void> {
  await until(`${pod} to be shown as running`, async () => {
    const statuses = (await node().pod(pod))?.status.containerStatuses ?? [];
    return statuses.length > 0 && statuses.every(({ state }) => state?.running !== undefined);
  });
}

function run(...words: readonly string[]): Promise<Said> {
  return rxlet(node().paths.socket, ...words).ended;
}

beforeAll(async () => {
  node().dropManifest(
    'web.json',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          shell('main', 'echo hello > index.html; exec httpd -f -p 127.0.0.1:8080', { workingDir: '/tmp' }),
          shell('other', 'exec sleep 3600'),
        ].map((container) => ({ ...container, image: 'docker.io/library/busybox:1.35' })),
      },
    }),
  );
  await whenShown('web');
});

describe('rxlet exec', () => {
  test('passes on output, error output and the exit code', async () => {
    const said = await run('exec', 'web', '-c', 'main', '--', 'sh', '-c', 'echo out; echo oops >&2; exit 3');
    expect(said).toEqual({ code: 3, stdout: 'out\n', stderr: 'oops\n' });
    const guessed = await run('exec', 'web', '--', 'hostname');
    expect(guessed).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^web-/) as string,
      stderr: 'Container main of main, other; -c names another.\n',
    });
  });

  test('passes on input to its end, however much it is', async () => {
    const cat = rxlet(node().paths.socket, 'exec', '-i', 'web', '-c', 'other', '--', 'cat');
    const text = Array.from({ length: 300_000 }, (_, line) => `line ${line}`).join('\n');
    cat.child.stdin?.end(text);
    const { code, stdout, stderr } = await cat.ended;
    expect({ code, stderr, isSame: stdout === text }).toEqual({ code: 0, stderr: '', isSame: true });
  });

  test('is over with the command, though input would go on', async () => {
    const head = rxlet(node().paths.socket, 'exec', '-i', 'web', '-c', 'other', '--', 'head', '-n', '1');
    head.child.stdin?.write('one\ntwo\n');
    expect(await head.ended).toEqual({ code: 0, stdout: 'one\n', stderr: '' });
  });

  test('gives a terminal of the size of this one', async () => {
    const line = `stty rows 33 cols 101; ${process.execPath} ${RXLET} exec --socket ${node().paths.socket} -it web -c other -- sh`;
    const terminal = command('script', ['-qec', line, '/dev/null']);
    await until('a prompt', () => terminal.soFar().stdout.includes('#'));
    await until('its size', () => {
      terminal.child.stdin?.write('stty size\r');
      return /^33 101\r$/m.test(terminal.soFar().stdout);
    });
    terminal.child.stdin?.write('exit 5\r');
    expect((await terminal.ended).code).toBe(5);
  });

  test('says what to do where it cannot', async () => {
    expect(await run('exec', 'wep', '--', 'true')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean web-') as string,
    });
    expect(await run('exec', 'web', '-c', 'db', '--', 'true')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('It has main, other: say which one with -c.') as string,
    });
    const missing = await run('exec', 'web', '-c', 'main', '--', 'no-such-command');
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('no-such-command');
  });
});

test('rxlet attach joins the first process of a container', async () => {
  const story = tellStory(node(), 'reader');
  story.tell({
    restartPolicy: 'Never',
    containers: [shell('main', ECHO, { stdin: true })],
  });
  await whenShown('reader');
  const attached = rxlet(node().paths.socket, 'attach', '-i', 'reader');
  await until('the answer of the reader', () => {
    // Again each time: the runtime may pass on input before it passes on output.
    attached.child.stdin?.write('hello\n');
    return attached.soFar().stdout.includes('heard hello\n');
  });
  attached.child.stdin?.write('that is all\n');
  expect(await attached.ended).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^(?:heard hello\n)+$/) as string,
    stderr: '',
  });
});

describe('rxlet port-forward', () => {
  function fetchText(port: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const call = get(`http://127.0.0.1:${port}/index.html`, { agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          resolve(text);
        });
      });
      call.on('error', reject);
    });
  }
  async function portOf(forward: Running): Promise<string> {
    return until('it to listen', () => /Forwarding from 127.0.0.1:(\d+) -> /.exec(forward.soFar().stdout)?.[1]);
  }

  test('leads to a port that listens on the loopback of the pod only', async () => {
    await until('it to listen', async () => {
      const page = 'http://127.0.0.1:8080/index.html';
      return (await run('exec', 'web', '-c', 'main', '--', 'wget', '-q', '-O', '-', page)).stdout === 'hello\n';
    });
    const forward = rxlet(node().paths.socket, 'port-forward', 'web', ':8080');
    const port = await portOf(forward);
    const answers = await Promise.all([fetchText(port), fetchText(port), fetchText(port)]);
    expect(answers).toEqual(['hello\n', 'hello\n', 'hello\n']);
    forward.child.kill('SIGINT');
    expect(await forward.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test('says where nothing listens, and goes on', async () => {
    const forward = rxlet(node().paths.socket, 'port-forward', 'web', ':8081');
    const port = await portOf(forward);
    await expect(fetchText(port)).rejects.toThrow(/socket hang up|ECONNRESET/);
    await expect(fetchText(port)).rejects.toThrow(/socket hang up|ECONNRESET/);
    const told = 'rxlet: port 8081: nothing in the pod listens there\n'.repeat(2);
    await until('it to tell of both', () => forward.soFar().stderr === told);
  });
});

describe('rxlet logs', () => {
  test('shows the end of a log, that of the instance before, and those of all containers', async () => {
    const story = tellStory(node(), 'talker');
    story.tell({
      containers: [
        shell(
          'main',
          `if [ -e /node/again ]; then echo second; sleep 3600; fi; touch /node/again; echo one; echo two; exit 1`,
        ),
        shell('side', 'echo beside; sleep 3600'),
      ],
    });
    await until(
      'the second instance to talk',
      async () => (await run('logs', 'talker', '-c', 'main')).stdout === 'second\n',
    );
    await until('its neighbour to talk', async () => (await run('logs', 'talker', '-c', 'side')).stdout === 'beside\n');
    expect((await run('logs', '--previous', 'talker', 'main')).stdout).toBe('one\ntwo\n');
    expect((await run('logs', '-p', '--tail=1', '--timestamps', 'talker', 'main')).stdout).toMatch(
      /^\d{4}-\S+Z two\n$/,
    );
    const all = await run('logs', '--all-containers', '--prefix', 'talker');
    expect(
      all.stdout
        .replace(/talker-[^/]+/g, 'talker')
        .split('\n')
        .toSorted(),
    ).toEqual(['', '[talker/main] second', '[talker/side] beside']);
    expect(await run('logs', '--previous', 'talker', 'side')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no previous instance') as string,
    });
  });

  test('follows a container to its end', async () => {
    const story = tellStory(node(), 'counter');
    story.tell({
      restartPolicy: 'Never',
      containers: [shell('main', `echo begin; ${waitFor('go')}; for i in 1 2 3; do echo $i; done`)],
    });
    await whenShown('counter');
    const following = rxlet(node().paths.socket, 'logs', '-f', 'counter');
    await until('it to show what was', () => following.soFar().stdout === 'begin\n');
    story.open('go');
    expect(await following.ended).toEqual({ code: 0, stdout: 'begin\n1\n2\n3\n', stderr: '' });
  });
});
