import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliError, describeCliError } from '../../../src/cli/cli-error.ts';
import { parseCommandLine } from '../../../src/cli/program.ts';
import { resolveRunOptions } from '../../../src/cli/resolve-run-options.ts';
import { USED_FIELDS } from '../../../src/model/config/kubelet-configuration.ts';
import type { RunConfig } from '../../../src/model/config/run-config.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-run-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

function run(...argv: readonly string[]): Promise<RunConfig> {
  const command = parseCommandLine(['run', ...argv]);
  if (command.kind !== 'run') throw new Error(JSON.stringify(command));
  return lastValueFrom(resolveRunOptions(command.options));
}

async function refusal(...argv: readonly string[]): Promise<CliError> {
  const error = await run(...argv).catch((thrown: unknown) => thrown);
  if (error instanceof CliError) return error;
  throw new Error(`not refused: ${JSON.stringify(error)}`);
}

describe('resolveRunOptions', () => {
  it('lets flags win over drop-ins, drop-ins over the file, the file over the defaults', async () => {
    const config = put('kubelet.yaml', `${HEAD}maxPods: 1\npodPidsLimit: 1\nclusterDomain: one\n`);
    const dropIns = join(folder, 'd');
    mkdirSync(dropIns);
    put('d/10.conf', `${HEAD}podPidsLimit: 2\nclusterDomain: two\n`);
    put('d/20.conf', `${HEAD}clusterDomain: three\nfeatureGates: {SidecarContainers: true}\n`);
    const argv = ['--config', config, '--config-dir', dropIns, '--cluster-domain=four', '--pod-manifest-path=/m'];
    expect((await run(...argv)).config).toMatchObject({
      staticPodPath: '/m',
      maxPods: 1,
      podPidsLimit: 2,
      clusterDomain: 'four',
      cpuCFSQuotaPeriod: 100,
      featureGates: { SidecarContainers: true },
    });
  });

  it('takes the name of the host, in lower case, unless it is told another', async () => {
    expect((await run()).nodeName).toBe(hostname().trim().toLowerCase());
    expect((await run('--hostname-override', ' Node-1.Example ')).nodeName).toBe('node-1.example');
  });

  it('makes paths absolute', async () => {
    const config = await run('--root-dir=state', '--socket=s.sock', '--pod-manifest-path=manifests');
    expect(config).toMatchObject({ rootDir: join(process.cwd(), 'state'), socket: join(process.cwd(), 's.sock') });
    expect(config.config.staticPodPath).toBe(join(process.cwd(), 'manifests'));
  });

  it('takes URLs of manifests for a place of pods, with files for TLS that go together', async () => {
    const { config, warnings, manifestUrlTls } = await run(
      '--manifest-url=https://a/',
      '--manifest-url-ca-file=ca.crt',
    );
    expect(warnings).toEqual([]);
    expect(config.staticPodURL).toBe('https://a/');
    expect(manifestUrlTls).toEqual({ ca: join(process.cwd(), 'ca.crt') });
    expect((await refusal('--manifest-url-cert-file=a.crt')).message).toBe(
      '--manifest-url-cert-file and --manifest-url-key-file go together',
    );
  });

  it.each([
    ['--manifest-url=a/pods', 'staticPodURL: must hold http:// or https:// URLs, with blanks between them'],
    ['--manifest-url-header=a b:c', 'staticPodURLHeader: must hold names of headers with their values'],
    ['--manifest-url-header=Content-Length:3', 'staticPodURLHeader: must hold names of headers with their values'],
    ['--http-check-frequency=-1s', 'httpCheckFrequency: must be longer than 0s'],
  ])('refuses %s', async (flag, message) => {
    expect((await refusal(flag)).message).toContain(message);
  });

  it('warns of what has no effect, and of a start without manifests', async () => {
    const dropIns = join(folder, 'd');
    mkdirSync(dropIns);
    put('d/10.conf', `${HEAD}readOnlyPort: 10255\n`);
    put('d/README', 'hello');
    expect((await run('--config-dir', dropIns)).warnings).toEqual([
      `${dropIns}/README: skipped, the name of a drop-in must end in .conf`,
      `${dropIns}/10.conf: valid for the kubelet, without effect in rxlet yet: readOnlyPort`,
      'no folder and no URL of manifests was given, so no pod will run: use --pod-manifest-path or --manifest-url, or staticPodPath or staticPodURL',
    ]);
  });

  it('names every mistake with file, line, column and field, and ends with code 2', async () => {
    const config = put('kubelet.yaml', `${HEAD}maxPods: many\nsyncFrequency: 5\n`);
    const dropIns = join(folder, 'd');
    mkdirSync(dropIns);
    put('d/10.conf', 'kind: KubeletConfiguration\n');
    put('d/20.conf', `${HEAD}a: [\n`);
    const error = await refusal('--config', config, '--config-dir', dropIns);
    expect(error.exitCode).toBe(2);
    const lines = describeCliError(error).replaceAll(folder, '').trimEnd().split('\n');
    expect(lines).toEqual([
      'rxlet: the configuration is not valid:',
      expect.stringMatching(/^ {2}\/d\/20\.conf:\d+:\d+: /),
      '  /kubelet.yaml:3:1: maxPods: must be a whole number, not the string "many"',
      '  /kubelet.yaml:4:1: syncFrequency: must be a duration, for example "1m30s", not the number 5',
      '  /d/10.conf:1:1: apiVersion: must be kubelet.config.k8s.io/v1beta1',
    ]);
  });

  it('takes the example of docs/operating.md, which shows every field that has an effect', async () => {
    const example = /```yaml\n(.*?)```/s.exec(readFileSync('docs/operating.md', 'utf8'))?.[1] ?? '';
    const { config, warnings } = await run('--config', put('example.yaml', example));
    expect(warnings).toEqual([]);
    expect(config.staticPodPath).toBe('/etc/rxlet/manifests');
    expect([...USED_FIELDS].filter((field) => !example.includes(`\n${field}:`))).toEqual([]);
  });

  it('refuses a flag by its name', async () => {
    expect((await refusal('--sync-frequency=5')).message).toContain(
      '--sync-frequency: syncFrequency: must be a duration',
    );
    expect((await refusal('--max-pods=-1')).message).toContain('--max-pods: maxPods: must not be negative');
  });

  it('refuses a file that is not there', async () => {
    expect((await refusal('--config', join(folder, 'no'))).message).toContain(`${folder}/no: cannot be read: ENOENT`);
  });

  it.each(['', 'a_b', '-a', 'a..b', 'x'.repeat(254)])('refuses %j as the name of a node', async (name) => {
    const error = await refusal(`--hostname-override=${name}`);
    expect(error).toMatchObject({ exitCode: 2, hint: 'Give a name with --hostname-override.' });
  });
});
