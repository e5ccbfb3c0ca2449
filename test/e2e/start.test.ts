import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { RXLET } from './harness/agent.ts';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { testNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

const WEB = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: writer
    image: docker.io/library/busybox:1.35
    command: [sh, -c]
    args: ['echo "hello from $(WHO)" > /out/index.html; ${OBEDIENT.replaceAll("'", "''")}']
    env: [{name: WHO, value: the writer}]
    volumeMounts: [{name: shared, mountPath: /out}]
  - name: httpd
    image: docker.io/library/busybox:1.35
    workingDir: /www
    command: [httpd, -f, -p, '8080']
    ports: [{name: http, containerPort: 8080}]
    volumeMounts: [{name: shared, mountPath: /www, readOnly: true}]
  volumes:
  - {name: shared, emptyDir: {}}
`;

describe('a manifest in the folder', () => {
  test('becomes a pod that answers on its own IP, with a volume its two containers share', async () => {
    const node = await testNode();
    node.dropManifest('web.yaml', WEB);
    await node.start();

    const ip = await until('the pod to have an IP', async () => (await node.pod('web'))?.status.podIP);
    await until(
      'the page',
      async () => (await (await fetch(`http://${ip}:8080/`)).text()) === 'hello from the writer\n',
    );

    const pod = await until('the pod to be ready', async () => {
      const found = await node.pod('web');
      return (
        found?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true && found
      );
    });
    expect(pod.status.phase).toBe('Running');
    expect(pod.status.containerStatuses?.map(({ name, restartCount }) => [name, restartCount])).toEqual([
      ['httpd', 0],
      ['writer', 0],
    ]);
  });

  test('is found while the agent runs', async () => {
    const node = await testNode();
    await node.start();
    node.dropManifest('late.yaml', podYaml({ name: 'late', run: OBEDIENT }));

    await node.whenRunning('late');
  });

  test('is found in a folder that was missing when the agent started, and is a problem as long as it is', async () => {
    const node = await testNode();
    rmdirSync(node.paths.manifests);
    await node.start();
    const [problem] = await until('the problem', async () => {
      const problems = await node.problems();
      return problems.length > 0 && problems;
    });
    expect(problem?.origin).toBe(node.paths.manifests);

    mkdirSync(node.paths.manifests);
    node.dropManifest('later.yaml', podYaml({ name: 'later', run: OBEDIENT }));
    await node.whenRunning('later');
    await until('the problem to be gone', async () => (await node.problems()).length === 0);
  });

  test('shows in `rxlet ps`', async () => {
    const node = await testNode();
    node.dropManifest('seen.yaml', podYaml({ name: 'seen', run: OBEDIENT }));
    await node.start();
    await node.whenRunning('seen');

    await until('the table to say so', async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [RXLET, 'ps', '--socket', node.paths.socket]);
      return /seen-node .*Running/.test(stdout);
    });
  });

  test('leaves its output where log collectors look', async () => {
    const node = await testNode();
    node.dropManifest('talker.yaml', podYaml({ name: 'talker', run: `echo hello from inside; ${OBEDIENT}` }));
    await node.start();
    const { id, uid } = await node.whenRunning('talker');

    const log = `/var/log/pods/default_talker-node_${uid}/main/0.log`;
    await until('the line', () => / stdout F hello from inside$/m.test(readFileSync(log, 'utf8')));
    await until('the link', () => readdirSync('/var/log/containers').includes(`talker-node_default_main-${id}.log`));
  });
});
