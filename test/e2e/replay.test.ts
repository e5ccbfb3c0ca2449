import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { rxlet } from './harness/cli.ts';
import { podJson, shell } from './harness/pod-json.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const PASSWORD = 'oak-4711-recorded';

test('user: a recording of an agent on a real runtime replays equal, and holds no secret', async () => {
  const node = await testNode();
  const file = join(node.paths.root, '..', 'bug.rec');
  node.dropManifest('login.yaml', secret(PASSWORD));
  node.dropManifest('user.yaml', podJson({ name: 'user', containers: [withSecret()] }));
  node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT, env: { V: '1' } }));
  node.dropManifest('crash.yaml', podYaml({ name: 'crash', run: 'sleep 1; exit 3' }));
  await node.start(`--record=${file}`);
  const [first] = await Promise.all([node.whenRunning('web'), node.whenRunning('user')]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await until('crash to be restarted twice', async () => (await restarts(node, 'crash')) >= 2);

  node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT, env: { V: '2' } }));
  const second = await node.whenRunning('web', ({ id }) => id !== first.id);
  process.kill((await node.runtime.times(second.id)).pid, 'SIGKILL');
  await node.whenRunning('web', ({ id }) => id !== second.id);
  node.removeManifest('web.yaml');
  await node.whenGone('web');
  expect(await node.signal('SIGTERM')).toMatchObject({ code: 0 });

  const text = readFileSync(file, 'utf8');
  for (const form of [PASSWORD, Buffer.from(PASSWORD).toString('base64')]) expect(text).not.toContain(form);
  const { code, out, err } = await rxlet(undefined, 'replay', file);
  expect(err).toBe('');
  expect(out).toContain('equal: all is decided as it was then');
  expect(code).toBe(0);
});

test('user: a compressed recording of an agent that was killed replays up to there', async () => {
  const node = await testNode();
  const file = join(node.paths.root, '..', 'bug.rec.gz');
  writeFileSync(file, 'of an earlier run');
  node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT }));
  await node.start(`--record=${file}`);
  await node.whenRunning('web');
  await until('the start to be recorded', () => {
    const written = gunzipSync(readFileSync(file), { finishFlush: constants.Z_SYNC_FLUSH });
    return written.includes('"reason":"Started"');
  });
  await node.signal('SIGKILL');

  expect(readFileSync(`${file}.old`, 'utf8')).toBe('of an earlier run');
  const { code, out, err } = await rxlet(undefined, 'replay', file, '-o', 'json');
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ equal: true, header: { node: 'node' } });
});

test('user: an agent whose recording cannot be written says so, and runs its pods', async () => {
  const node = await testNode();
  const file = join(node.paths.root, '..', 'not-there', 'bug.rec');
  node.dropManifest('web.yaml', podYaml({ name: 'web', run: OBEDIENT }));
  await node.start(`--record=${file}`);
  await node.whenRunning('web');
  expect(node.log()).toContain(`the recording ${file} ends here, the agent goes on: ENOENT`);
  expect(existsSync(file)).toBe(false);
});

function secret(password: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login' },
    stringData: { password },
  });
}

/** In a variable, in the midst of its command, and as a file. */
function withSecret(): ReturnType<typeof shell> {
  return shell('main', `echo $(PASSWORD); ${OBEDIENT}`, {
    env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } }],
  });
}

async function restarts(node: TestNode, name: string): Promise<number> {
  return (await node.pod(name))?.status.containerStatuses?.at(0)?.restartCount ?? 0;
}
