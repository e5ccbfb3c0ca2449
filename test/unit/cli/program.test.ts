import { describe, expect, it } from 'vitest';
import type { Command, RunOptions } from '../../../src/cli/command.ts';
import { EXIT_CODES } from '../../../src/cli/exit-codes.ts';
import { parseCommandLine } from '../../../src/cli/program.ts';
import { resolveConfig } from '../../../src/model/config/resolve-config.ts';

function runOptions(...argv: readonly string[]): RunOptions {
  const command = parseCommandLine(['run', ...argv]);
  if (command.kind !== 'run') throw new Error(JSON.stringify(command));
  return command.options;
}

/** What the flags make of the configuration. */
function configOf(...argv: readonly string[]): unknown {
  const resolved = resolveConfig(runOptions(...argv).flags);
  return resolved.kind === 'resolved' ? resolved.config : resolved.problems;
}

function helpOf(...argv: readonly string[]): string {
  const command = parseCommandLine(argv);
  return command.kind === 'help' ? command.text : JSON.stringify(command);
}

function errorOf(...argv: readonly string[]): Extract<Command, { kind: 'error' }> {
  const command = parseCommandLine(argv);
  if (command.kind !== 'error') throw new Error(JSON.stringify(command));
  return command;
}

const HELPS: readonly [readonly string[]][] = [
  ...[
    'get',
    'describe',
    'events',
    'problems',
    'trace',
    'validate',
    'plan',
    'completion',
    'stop',
    'start',
    'restart',
    'logs',
    'exec',
    'attach',
    'port-forward',
  ],
].map((name) => [[name, '--help']]);

describe('rxlet simulate', () => {
  const simulate = (...argv: readonly string[]): Command => parseCommandLine(['simulate', ...argv]);

  it('offers a runtime on a socket instead of running an agent', () => {
    expect(simulate('--serve', 'unix:///run/sim.sock', '--seed', '7', '--script', 's.yaml', '--state', 'f')).toEqual({
      kind: 'serve',
      options: { serve: '/run/sim.sock', seed: 7, script: 's.yaml', state: 'f' },
    });
    expect(simulate('--serve', '/run/sim.sock')).toMatchObject({ kind: 'serve', options: { serve: '/run/sim.sock' } });
  });

  it.each([
    [['--serve', 'tcp://1.2.3.4:5'], 'It looks like unix:///path.'],
    [['--serve', '/run/sim.sock', 'pods/'], 'a served runtime has no manifests'],
    [['--serve', '/run/sim.sock', '--for', '1h'], 'cannot be used with'],
    [['pods/', '--state', 'f'], '--state goes with --serve'],
    [[], "missing required argument 'path'"],
  ])('refuses %j', (argv, message) => {
    expect(simulate(...argv)).toMatchObject({ kind: 'error', message: expect.stringContaining(message) as string });
  });
});

describe('parseCommandLine', () => {
  it('runs with places of its own where no flag is given', () => {
    expect(runOptions()).toEqual({
      config: undefined,
      configDir: undefined,
      rootDir: '/var/lib/rxlet',
      socket: '/run/rxlet/rxlet.sock',
      hostnameOverride: undefined,
      nodeIps: [],
      nodeLabels: {},
      imageCredentialProviderConfig: undefined,
      imageCredentialProviderBinDir: undefined,
      manifestUrlCaFile: undefined,
      manifestUrlCertFile: undefined,
      manifestUrlKeyFile: undefined,
      stopPodsOnExit: false,
      update: 'prepare',
      verbosity: 0,
      flags: [],
    });
  });

  it('reads the flags of the process', () => {
    const argv =
      '--config c.yaml --config-dir d --root-dir /r --socket /s --hostname-override n1 --stop-pods-on-exit --update immediate --v 4 --node-labels disk=ssd,zone=moon --image-credential-provider-config p.yaml --image-credential-provider-bin-dir /bin --manifest-url-ca-file ca.crt --manifest-url-cert-file n.crt --manifest-url-key-file n.key';
    expect(runOptions(...argv.split(' '), '--node-ip=10.0.0.1, fd00::1')).toEqual({
      config: 'c.yaml',
      configDir: 'd',
      rootDir: '/r',
      socket: '/s',
      hostnameOverride: 'n1',
      nodeIps: ['10.0.0.1', 'fd00::1'],
      nodeLabels: { disk: 'ssd', zone: 'moon' },
      imageCredentialProviderConfig: 'p.yaml',
      imageCredentialProviderBinDir: '/bin',
      manifestUrlCaFile: 'ca.crt',
      manifestUrlCertFile: 'n.crt',
      manifestUrlKeyFile: 'n.key',
      stopPodsOnExit: true,
      update: 'immediate',
      verbosity: 4,
      flags: [],
    });
  });

  it('adds up URLs of manifests and their headers', () => {
    const flags = ['--manifest-url=http://a/', '--manifest-url-header=a:1,b:2', '--manifest-url=http://b/'];
    expect(configOf(...flags, '--manifest-url-header=a:3')).toMatchObject({
      staticPodURL: 'http://a/ http://b/',
      staticPodURLHeader: { a: ['1', '3'], b: ['2'] },
    });
  });

  it.each([['-v', '2'], ['-v=2'], ['--v=2'], ['--v', '2'], ['-v2']])('reads the verbosity in %s %s', (...argv) => {
    expect(runOptions(...argv.filter((arg) => arg !== '')).verbosity).toBe(2);
  });

  it.each([
    ['--pod-manifest-path=/etc/pods', { staticPodPath: '/etc/pods' }],
    ['--container-runtime-endpoint=unix:///run/crio.sock', { containerRuntimeEndpoint: 'unix:///run/crio.sock' }],
    ['--image-service-endpoint=unix:///i.sock', { imageServiceEndpoint: 'unix:///i.sock' }],
    ['--file-check-frequency=5s', { fileCheckFrequency: 5_000 }],
    ['--http-check-frequency=7s', { httpCheckFrequency: 7_000 }],
    ['--manifest-url=https://m/pods', { staticPodURL: 'https://m/pods' }],
    ['--manifest-url-header=a: x:y,b:,A:z', { staticPodURLHeader: { a: ['x:y'], b: [''], A: ['z'] } }],
    ['--sync-frequency=10s', { syncFrequency: 10_000 }],
    ['--runtime-request-timeout=10m', { runtimeRequestTimeout: 600_000 }],
    ['--max-pods=7', { maxPods: 7 }],
    ['--pod-max-pids=99', { podPidsLimit: 99 }],
    ['--cgroup-driver=systemd', { cgroupDriver: 'systemd' }],
    ['--cgroup-root=/gold', { cgroupRoot: '/gold' }],
    ['--cgroups-per-qos=false', { cgroupsPerQOS: false }],
    ['--cgroups-per-qos', { cgroupsPerQOS: true }],
    ['--cpu-cfs-quota=0', { cpuCFSQuota: false }],
    ['--cpu-cfs-quota-period=50ms', { cpuCFSQuotaPeriod: 50 }],
    ['--serialize-image-pulls=False', { serializeImagePulls: false }],
    ['--resolv-conf=', { resolvConf: '' }],
    ['--cluster-dns=10.0.0.1,10.0.0.2', { clusterDNS: ['10.0.0.1', '10.0.0.2'] }],
    ['--cluster-domain=c.test', { clusterDomain: 'c.test' }],
    ['--feature-gates=A=true,B=false', { featureGates: { A: true, B: false } }],
  ])('sets a field of the configuration by %s', (flag, expected) => {
    expect(configOf(flag)).toMatchObject(expected);
  });

  it('joins a list that is given in several flags', () => {
    expect(configOf('--cluster-dns', '10.0.0.1', '--cluster-dns', '10.0.0.2')).toMatchObject({
      clusterDNS: ['10.0.0.1', '10.0.0.2'],
    });
    expect(configOf('--feature-gates=A=true', '--feature-gates=B=true')).toMatchObject({
      featureGates: { A: true, B: true },
    });
  });

  it('remembers nothing from one call to the next', () => {
    configOf('--cluster-dns', '10.0.0.1');
    expect(configOf('--cluster-dns', '10.0.0.2')).toMatchObject({ clusterDNS: ['10.0.0.2'] });
  });

  it.each([
    [['ps'], 'ps', { watch: false, format: 'table', names: [], namespace: undefined }],
    [['ps', '-w', '-o', 'wide'], 'ps', { watch: true, format: 'wide' }],
    [['ps', '--watch', '--output', 'json'], 'ps', { watch: true, format: 'json' }],
    [['ps', '-o', 'name', '--socket', '/s'], 'ps', { watch: false, format: 'name', socket: '/s' }],
    [['ps', 'web', '-n', 'data'], 'ps', { names: ['web'], namespace: 'data' }],
    [['get', 'pods'], 'ps', { names: [], watch: false, format: 'table', socket: '/run/rxlet/rxlet.sock' }],
    [['get', 'po', 'web', 'db', '-w', '-o', 'yaml'], 'ps', { names: ['web', 'db'], watch: true, format: 'yaml' }],
    [['get', 'pod', '-A', '-n', 'data'], 'ps', { namespace: undefined }],
    [['get', 'events', '-w'], 'events', { watch: true, name: undefined }],
    [['describe', 'web'], 'describe', { names: ['web'], namespace: undefined }],
    [['describe', 'pod', 'web', '-n', 'data'], 'describe', { names: ['web'], namespace: 'data' }],
    [['describe', 'pods'], 'describe', { names: [] }],
    [['events'], 'events', { watch: false, format: 'table', name: undefined }],
    [['events', '--for', 'pod/web', '-o', 'json'], 'events', { format: 'json', name: 'pod/web' }],
    [['stop', 'web'], 'commandPods', { verb: 'stop', names: ['web'], namespace: undefined }],
    [['restart', 'pod', 'web', '-n', 'data'], 'commandPods', { verb: 'restart', names: ['web'], namespace: 'data' }],
    [['start', 'pod'], 'commandPods', { verb: 'start', names: ['pod'] }],
    [['plan', 'next'], 'plan', { path: 'next', empty: false, format: 'text', socket: '/run/rxlet/rxlet.sock' }],
    [['plan', 'next', '--empty', '-o', 'json'], 'plan', { empty: true, format: 'json' }],
    [['top', 'pods', '-n', 'data'], 'top', { namespace: 'data', format: 'text' }],
    [['problems'], 'problems', { format: 'text', socket: '/run/rxlet/rxlet.sock' }],
    [['problems', '-o', 'json'], 'problems', { format: 'json' }],
  ])('reads %j', (argv, kind, options) => {
    expect(parseCommandLine(argv)).toMatchObject({ kind, options });
  });

  it.each([
    [['validate', 'a.yaml', 'b'], { paths: ['a.yaml', 'b'], format: 'text' }],
    [['validate', '-', '-o', 'json'], { paths: ['-'], format: 'json' }],
  ])('reads %j', (argv, options) => {
    expect(parseCommandLine(argv)).toEqual({ kind: 'validate', options });
  });

  it('reads the shell to complete in', () => {
    expect(parseCommandLine(['completion', 'zsh'])).toEqual({ kind: 'completion', shell: 'zsh' });
    expect(errorOf('completion', 'fish').message).toContain('Allowed choices are bash, zsh.');
  });

  it.each([[['version']], [['--version']]])('shows the version for %j', (argv) => {
    expect(parseCommandLine(argv)).toEqual({ kind: 'version' });
  });

  it.each([[[]], [['--help']], [['-h']], [['help']], [['run', '--help']], [['ps', '-h']], [['help', 'run']], ...HELPS])(
    'shows a help that fits 80 columns for %j',
    (argv) => {
      const text = helpOf(...argv);
      expect(text).toMatch(/^Usage: rxlet/);
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it('names exit codes and first steps in the help', () => {
    for (const code of Object.values(EXIT_CODES)) expect(helpOf('--help')).toMatch(new RegExp(`^  ${code} +\\w`, 'm'));
    expect(helpOf()).toContain('rxlet run --pod-manifest-path /etc/rxlet/manifests');
  });

  it.each([
    [['rnu'], "unknown command 'rnu' (Did you mean run?)"],
    [['run', '--confg', 'x'], "unknown option '--confg' (Did you mean --config?)"],
    [['run', '--config'], "option '--config <file>' argument missing"],
    [['run', 'now'], "too many arguments for 'run'. Expected 0 arguments but got 1."],
    [['run', '--max-pods', 'x'], "option '--max-pods <count>' argument 'x' is invalid. It must be a whole number."],
    [
      ['run', '--cpu-cfs-quota=no'],
      "option '--cpu-cfs-quota [bool]' argument 'no' is invalid. It must be true or false.",
    ],
    [
      ['run', '--feature-gates=A'],
      "option '--feature-gates <list>' argument 'A' is invalid. It must look like A=true,B=false.",
    ],
    [['run', '--node-ip=x'], "option '--node-ip <ips>' argument 'x' is invalid. It must be an IP address."],
    [
      ['run', '--node-ip=1.1.1.1,2.2.2.2'],
      "option '--node-ip <ips>' argument '1.1.1.1,2.2.2.2' is invalid. It may hold at most one IPv4 and one IPv6 address.",
    ],
    [['run', '-v', 'x'], "option '-v, --v <level>' argument 'x' is invalid. It must be a whole number from 0 up."],
    [
      ['ps', '-o', 'xml'],
      "option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are wide, json, yaml, name.",
    ],
    [['get', 'nodes'], "command-argument value 'nodes' is invalid for argument 'kind'. There are pods and events."],
    [['validate'], "missing required argument 'path'"],
  ])('refuses %j in one line, with what to do', (argv, message) => {
    const error = errorOf(...argv);
    expect(error).toMatchObject({ exitCode: 2, message });
    expect(error.hint).toContain('--help');
  });
});
