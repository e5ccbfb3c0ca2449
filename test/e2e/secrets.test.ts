import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { followRxlet, rxlet, type Ran } from './harness/cli.ts';
import { BUSYBOX, podJson, shell } from './harness/pod-json.ts';
import { HOST } from './harness/runtime-look.ts';
import { untilAsked } from './harness/story.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

/** One for each way in which a value can go. */
const VALUES = {
  env: 'oak-4711-env',
  all: 'elm-4711-all',
  file: 'fir-4711-file',
  pull: 'ash-4711-pull',
  argument: 'yew-4711-argument',
  before: 'bay-4711-before',
  mistyped: 'fig-4711-mistyped',
  unencoded: 'ivy-4711-unencoded!',
  unclosed: 'gum-4711-unclosed',
  unindented: 'box-4711-unindented',
  misplaced: 'nut-4711-misplaced',
  ajar: 'tea-4711-ajar',
} as const;

function secret(name: string, stringData: Readonly<Record<string, string>>, type = 'Opaque'): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, type, stringData });
}

const LOGIN = 'user';
const DOCKER_CONFIG = JSON.stringify({ auths: { '127.0.0.1:1': { username: LOGIN, password: VALUES.pull } } });

/** Mistakes of people who write Secrets; the value stands where the mistake is. */
const BROKEN: Readonly<Record<string, string>> = {
  'mistyped.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: mistyped}\nstringData: [${VALUES.mistyped}]\n`,
  'unencoded.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: unencoded}\ndata: {password: ${VALUES.unencoded}}\n`,
  'unclosed.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: unclosed}\nstringData: {password: "${VALUES.unclosed}}\n`,
  'unindented.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: unindented}\nstringData:\n  password: |\n a\n${VALUES.unindented}\n`,
  'misplaced.yaml': `apiVersion: v1\nkind: Secret\nmetadata: {name: misplaced}\nstringData:\npassword: ${VALUES.misplaced}\n`,
  'ajar.json': `{"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "ajar"}, "stringData": {"password": "${VALUES.ajar}"`,
};

test('what a Secret holds is in no log, answer, output or file, whatever goes wrong with it', async () => {
  const node = await testNode();
  node.dropManifest('before.yaml', secret('login', { env: VALUES.before, file: VALUES.before }));
  node.dropManifest(
    'pull.yaml',
    secret('registry', { '.dockerconfigjson': DOCKER_CONFIG }, 'kubernetes.io/dockerconfigjson'),
  );
  dropPods(node);
  for (const [file, text] of Object.entries(BROKEN)) node.dropManifest(file, text);
  const recordings = ['first', 'second'].map((name) => join(node.paths.root, '..', `${name}.recording`));
  await node.start('--v=10', `--record=${recordings[0] ?? ''}`);
  const followed = [
    followRxlet(node, 'ps', '-w', '-o', 'json'),
    followRxlet(node, 'events', '-w', '-o', 'json'),
    followRxlet(node, 'trace', '-f', '-o', 'json'),
  ];
  await Promise.all(['user', 'restarted'].map((name) => node.whenRunning(name)));
  // Another value, which restarts whoever wants that, and reaches the volumes of the rest.
  const { id } = await node.whenRunning('restarted');
  node.dropManifest(
    'before.yaml',
    secret('login', { env: VALUES.env, all: VALUES.all, file: VALUES.file, argument: VALUES.argument }),
  );
  await node.whenRunning('restarted', (container) => container.id !== id);
  await until('everything to have gone wrong', async () => {
    const { out, err } = await rxlet(node, 'ps', '-o', 'wide');
    const reasons = [
      /^pulling-node .*(?:ErrImagePull|ImagePullBackOff)/m,
      /^missing-node .*CreateContainerConfigError/m,
    ];
    const told = [...reasons, /^failing-node .*(?:StartError|RunContainerError|CrashLoopBackOff)/m].every((reason) =>
      reason.test(out),
    );
    if (!told) throw new Error(`rxlet ps: ${out}${err}`);
    return told;
  });
  await node.signal('SIGTERM');
  await node.start('--v=10', `--record=${recordings[1] ?? ''}`);
  await until('the mistakes to be told', async () => (await node.problems()).length >= Object.keys(BROKEN).length);
  await node.whenRunning('user');

  const replayed = await rxlet(undefined, 'replay', recordings[0] ?? '');
  const told = new Map([
    ['the log', node.log()],
    ['rxlet replay', replayed.out + replayed.err],
    ...recordings.map((path) => [path, readFileSync(path, 'utf8')] as const),
    ...(await answersOf(node)),
    ...(await outputsOf(node)),
    ...followed.map(({ out }, index) => [`what was followed, ${index}`, out()] as const),
    ...filesBelow(node.paths.root).flatMap((path) => ifThere(() => [[path, readFileSync(path, 'latin1')] as const])),
  ]);
  expect(told.get('the log')).toContain('login');
  for (const path of recordings) expect(told.get(path)).toContain('login');
  expect(told.get('/rxlet/view')).toContain('missing-node');
  expect(told.get('/rxlet/trace')).toContain('login');
  expect(told.get('rxlet trace')).toContain('user-node');
  expect(told.get('rxlet describe')).toContain('the key env of the Secret login');
  expect(told.size).toBeGreaterThan(45);

  const forms = Object.values(VALUES).flatMap((value) => [value, ...encoded(value)]);
  const leaks = [...told].flatMap(([where, text]) =>
    [...forms, ...encoded(`${LOGIN}:${VALUES.pull}`)]
      .filter((form) => text.includes(form))
      .map((form) => `${where}: ${form}: ${around(text, form)}`),
  );
  expect(leaks).toEqual([]);
});

function dropPods(node: TestNode): void {
  const reference = { name: 'login' };
  const env = [{ name: 'ENV', valueFrom: { secretKeyRef: { ...reference, key: 'env' } } }];
  const volumes = [
    { name: 'plain', secret: { secretName: 'login' } },
    {
      name: 'projected',
      projected: { sources: [{ secret: { ...reference, items: [{ key: 'file', path: 'a/b' }] } }] },
    },
  ];
  const main = shell('main', untilAsked(), {
    env,
    envFrom: [{ secretRef: reference }],
    volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })),
  });
  const user = podJson({ name: 'user', terminationGracePeriodSeconds: 1, containers: [main], volumes });
  // In one file with a Secret, of which nothing may be remembered with the pod.
  node.dropManifest('user.yaml', `${user}\n---\n${secret('unused', { env: VALUES.env })}`);
  node.dropManifest(
    'restarted.yaml',
    podJson({
      name: 'restarted',
      annotations: { 'rxlet.dev/restart-on-config-change': 'true' },
      containers: [shell('main', untilAsked(), { env })],
    }),
  );
  node.dropManifest(
    'failing.yaml',
    podJson({
      name: 'failing',
      containers: [
        {
          name: 'main',
          image: BUSYBOX,
          command: ['/no-such-program-$(ARGUMENT)'],
          env: [{ name: 'ARGUMENT', valueFrom: { secretKeyRef: { ...reference, key: 'argument' } } }],
        },
      ],
    }),
  );
  node.dropManifest(
    'pulling.yaml',
    podJson({
      name: 'pulling',
      imagePullSecrets: [{ name: 'registry' }],
      containers: [{ name: 'main', image: '127.0.0.1:1/nobody/nothing:1' }],
    }),
  );
  node.dropManifest(
    'missing.yaml',
    podJson({
      name: 'missing',
      containers: [
        shell('main', untilAsked(), {
          env: [{ name: 'ENV', valueFrom: { secretKeyRef: { ...reference, key: 'nothing' } } }],
        }),
      ],
    }),
  );
}

/** What every path of the routing table answers, of which the answer to an unknown path tells. */
async function answersOf({ paths: { socket } }: TestNode): Promise<ReadonlyMap<string, string>> {
  const table = await firstPage(socket, '/no/such/page');
  const paths = [...table.matchAll(/\/[\w:/.-]*/g)].map(([path]) => path);
  expect(paths).toEqual(expect.arrayContaining(['/pods', '/metrics', '/stats/summary', '/configz', '/rxlet/view']));
  const { items } = JSON.parse(await firstPage(socket, '/pods')) as {
    readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
  };
  const uid = items.find(({ metadata }) => metadata.name === `user-${HOST}`)?.metadata.uid ?? '';
  const answers = new Map<string, string>();
  for (const pattern of paths) {
    const path = pattern
      .replace(/:namespace\w*/g, 'default')
      .replace(/:(?:pod|name)\w*/g, `user-${HOST}`)
      .replace(/:container\w*/g, 'main')
      .replace(/:uid/g, uid);
    for (const [method, query] of [
      ['GET', ''],
      ['GET', '?verbose=1'],
      ['POST', ''],
    ] as const) {
      if (method === 'POST' && /\/(?:stop|restart)$/.test(path)) continue;
      answers.set(
        `${method === 'GET' ? '' : `${method} `}${path}${query}`,
        await firstPage(socket, `${path}${query}`, method),
      );
    }
  }
  return answers;
}

/** The whole answer, or as much as comes with the first lines where it never ends. */
function firstPage(socketPath: string, path: string, method = 'GET'): Promise<string> {
  return new Promise((done, fail) => {
    const call = request({ socketPath, path, method, agent: false, timeout: 30_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
        if (path.includes('watch') && body.includes('\n')) response.destroy();
      });
      response.on('close', () => {
        done(`${JSON.stringify(response.headers)}\n${body}`.replace(/^\{.*\}\n(?=[[{])/, ''));
      });
      response.on('error', () => undefined);
    });
    call.on('timeout', () => call.destroy(new Error(`${path} does not answer`)));
    call.on('error', fail);
    call.end();
  });
}

/** What every command prints, on both of its outputs. */
async function outputsOf(node: TestNode): Promise<ReadonlyMap<string, string>> {
  const next = join(node.paths.manifests, '..', 'next');
  mkdirSync(next);
  cpSync(node.paths.manifests, next, { recursive: true });
  const commands = [
    ...['wide', 'json', 'yaml', 'name'].flatMap((format) => [
      ['ps', '-o', format],
      ['events', '-o', format],
    ]),
    ['ps'],
    ['get', 'pods'],
    ['get', 'events'],
    ['describe'],
    ['events', '--for', 'failing'],
    ['problems'],
    ['problems', '-o', 'json'],
    ['top'],
    ['top', '-o', 'json'],
    ['plan', next],
    ['plan', next, '-o', 'json'],
    ['trace'],
    ['trace', '-o', 'json'],
    ['trace', '--marbles', '--last', '600'],
    ['volumes', 'ls'],
    ['logs', 'user'],
    ['logs', 'failing'],
    ['exec', 'failing', '--', 'true'],
    ['stop', 'missing'],
    ['restart', 'failing'],
  ];
  const outputs = new Map<string, string>();
  const keep = (args: readonly string[], { out, err }: Ran): void =>
    void outputs.set(`rxlet ${args.join(' ')}`, out + err);
  for (const args of commands) keep(args, await rxlet(node, ...args));
  for (const args of [
    ['validate', next],
    ['validate', next, '-o', 'json'],
    ['plan', next, '--empty'],
  ])
    keep(args, await rxlet(undefined, ...args));
  return outputs;
}

/** A value in base64, wherever in a longer text it begins. */
function encoded(value: string): readonly string[] {
  return [0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + value)
      .toString('base64')
      .replace(/=*$/, '')
      .slice(before === 0 ? 0 : 4, -4),
  );
}

/** Every file below a folder, but what is mounted there: Secrets in volumes lie in memory. */
function filesBelow(folder: string): readonly string[] {
  return ifThere(() => readdirSync(folder, { withFileTypes: true })).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return [path];
    if (!entry.isDirectory()) return [];
    return ifThere(() => (statSync(path).dev === statSync(folder).dev ? filesBelow(path) : []));
  });
}

/** Nothing, where what is looked at has been put aside meanwhile: the agent works on. */
function ifThere<T>(look: () => readonly T[]): readonly T[] {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 120), at + 120);
}
