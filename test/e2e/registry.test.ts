import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OBEDIENT, podYaml } from './harness/pod-yaml.ts';
import { PASSWORD, startFailingServer, startRegistry, startStalledServer, USER } from './harness/registry.ts';
import { testNode, type TestNode } from './harness/test-node.ts';
import { until } from './harness/until.ts';

function podWith(name: string, image: string): string {
  return podYaml({ name, run: OBEDIENT }).replace('docker.io/library/busybox:1.35', image);
}

function pullSecret(host: string, password: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'reg' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths: { [host]: { username: USER, password } } }) },
  });
}

async function waitingOf(node: TestNode, name: string): Promise<{ reason?: string; message?: string } | undefined> {
  return (await node.pod(name))?.status.containerStatuses?.[0]?.state?.waiting;
}

async function untilRefused(node: TestNode, name: string): Promise<string> {
  const waiting = await until(`the pull of ${name} to be held back`, async () => {
    const found = await waitingOf(node, name);
    return (found?.reason === 'ErrImagePull' || found?.reason === 'ImagePullBackOff') && found;
  });
  return waiting.message ?? '';
}

describe('a registry', () => {
  test('gives its image to a pod, and the log tells how long it took', async () => {
    const registry = await startRegistry();
    await registry.push('team/app', '1');
    const node = await testNode();
    await node.start();
    node.dropManifest('app.yaml', podWith('app', `${registry.host}/team/app:1`));
    await node.whenRunning('app');
    expect(node.log()).toMatch(/Successfully pulled image .* in .* \(.* including waiting\)\. Image size: \d+ bytes/);
  });

  test('that asks who pulls is answered from the config.json in the root folder, and its edit counts at once', async () => {
    const registry = await startRegistry({ asksWho: true });
    await registry.push('team/private', '1');
    const node = await testNode();
    await node.start();
    node.dropManifest('private.yaml', podWith('private', `${registry.host}/team/private:1`));
    expect(await untilRefused(node, 'private')).toMatch(/401|unauthorized|authorization|authenticat|credentials/i);

    const auth = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
    const config = { auths: { [`${registry.host}/team`]: { auth }, [`${registry.host}/other`]: { auth: 'd3Jvbmc6' } } };
    writeFileSync(join(node.paths.root, 'config.json'), JSON.stringify(config));
    await node.whenRunning('private');
  });

  test('that asks who pulls is answered from a Secret of the pod; a missing and a wrong one are named, and a right one counts at once', async () => {
    const registry = await startRegistry({ asksWho: true });
    await registry.push('team/secret', '1');
    const node = await testNode();
    await node.start();
    const text = podWith('secret', `${registry.host}/team/secret:1`);
    node.dropManifest('pod.yaml', text.replace('spec:\n', 'spec:\n  imagePullSecrets: [{name: reg}]\n'));
    expect(await untilRefused(node, 'secret')).toContain('image pull secrets that do not exist: reg');

    node.dropManifest('secret.yaml', pullSecret(registry.host, 'wrong-password'));
    await until('the wrong secret to be named', async () =>
      ((await waitingOf(node, 'secret'))?.message ?? '').includes('(image pull secrets: reg)'),
    );
    expect(JSON.stringify(await node.view())).not.toContain('wrong-password');

    node.dropManifest('secret.yaml', pullSecret(registry.host, PASSWORD));
    await node.whenRunning('secret');
    expect(node.log()).not.toMatch(/wrong-password|d3Jvbmct/);
  });

  test('that asks who pulls is answered by a credential provider', async () => {
    const registry = await startRegistry({ asksWho: true });
    await registry.push('team/provided', '1');
    const node = await testNode();
    const folder = join(node.paths.root, '../providers');
    mkdirSync(folder);
    const answer = {
      kind: 'CredentialProviderResponse',
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      cacheKeyType: 'Registry',
      auth: { [registry.host]: { username: USER, password: PASSWORD } },
    };
    writeFileSync(join(folder, 'knows'), `#!/bin/sh\ncat > ${folder}/asked\necho '${JSON.stringify(answer)}'\n`);
    chmodSync(join(folder, 'knows'), 0o755);
    writeFileSync(
      join(folder, 'config.yaml'),
      `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: knows
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  matchImages: ['${registry.host}']
  defaultCacheDuration: 1h
`,
    );
    await node.start(
      `--image-credential-provider-config=${folder}/config.yaml`,
      `--image-credential-provider-bin-dir=${folder}`,
    );
    node.dropManifest('provided.yaml', podWith('provided', `${registry.host}/team/provided:1`));
    await node.whenRunning('provided');
  });

  test('is not held up by one that does not answer and one that fails', async () => {
    const [registry, stalled, failing] = [
      await startRegistry(),
      await startStalledServer(),
      await startFailingServer(),
    ];
    await registry.push('team/good', '1');
    const node = await testNode();
    await node.start();
    node.dropManifest('a-stalled.yaml', podWith('stalled', `${stalled}/team/app:1`));
    node.dropManifest('b-failing.yaml', podWith('failing', `${failing}/team/app:1`));
    await until('the stalled pull to have begun', () => node.log().includes(`${stalled}/team/app:1`));
    node.dropManifest('c-good.yaml', podWith('good', `${registry.host}/team/good:1`));
    await node.whenRunning('good');
    expect(await untilRefused(node, 'failing')).toMatch(/500/);
    expect(await node.running('stalled')).toEqual([]);

    node.removeManifest('a-stalled.yaml');
    await node.whenGone('stalled');
  });
});
