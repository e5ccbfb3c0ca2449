import { isIP } from 'node:net';
import { Command as Commander, CommanderError, InvalidArgumentError, Option } from 'commander';
import { nodeLabelProblem } from '../model/admission/node-labels.ts';
import { addClientCommands, ROOT_DIR, SOCKET } from './client-program.ts';
import type { Command, RunOptions } from './command.ts';
import { EXIT_CODES, EXIT_CODES_HELP } from './exit-codes.ts';
import { addSimulate } from './simulate-program.ts';
import { addStreamCommands } from './stream-program.ts';
import { flagLayer, kubeletFlags } from './kubelet-flags.ts';

/** Reads the arguments after `rxlet`. Never throws, prints nothing: what to print is part of the answer. */
export function parseCommandLine(argv: readonly string[]): Command {
  let asked: Command | undefined;
  const printed: string[] = [];
  const program = new Commander('rxlet')
    .description('A Kubernetes node agent: runs the pods whose manifests lie in a folder.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
    })
    .helpCommand('help [command]', 'show the help of a command')
    .helpOption('-h, --help', 'show this help')
    .version('', '--version', 'show the version')
    .configureHelp({ minWidthToWrap: 20 })
    .addHelpText(
      'after',
      `\n${EXIT_CODES_HELP}\n\nFirst steps:\n  rxlet run --pod-manifest-path /etc/rxlet/manifests\n  rxlet ps -w`,
    );

  addRun(program, (options) => (asked = { kind: 'run', options }));
  addClientCommands(program, (command) => (asked = command));
  addStreamCommands(program, (command) => (asked = command));
  addSimulate(program, (command) => (asked = command));
  program
    .command('version')
    .description('show the version of rxlet')
    .action(() => {
      asked = { kind: 'version' };
    });
  try {
    program.parse(argv.length ? [...argv] : ['--help'], { from: 'user' });
  } catch (error) {
    return explain(error, printed.join(''));
  }
  return asked ?? { kind: 'help', text: printed.join('') };
}

function addRun(program: Commander, then: (options: RunOptions) => void): void {
  const flags = kubeletFlags();
  const run = program
    .command('run')
    .description('run the agent in the foreground')
    .helpOption('-h, --help', 'show this help')
    .optionsGroup('Options:')
    .option('--config <file>', "the kubelet's KubeletConfiguration (YAML or JSON)")
    .option('--config-dir <folder>', 'drop-ins: every *.conf below it, by name, over --config')
    .option('--root-dir <folder>', 'where rxlet keeps its state', ROOT_DIR)
    .option('--socket <path>', 'unix socket of the local API, for rxlet ps', SOCKET)
    .option('--hostname-override <name>', "the node's name, instead of the host name")
    .addOption(new Option('--node-ip <ips>', "the node's IP, or one IPv4 and one IPv6").argParser(nodeIps))
    .addOption(new Option('--node-labels <labels>', 'labels of the node: a=b,c=d').argParser(nodeLabels))
    .option('--image-credential-provider-config <file>', 'which programs know the credentials of registries')
    .option('--image-credential-provider-bin-dir <folder>', 'where those programs are')
    .option('--manifest-url-ca-file <file>', 'whom to trust at https URLs of manifests, in place of the system')
    .option('--manifest-url-cert-file <file>', 'certificate that the node shows there')
    .option('--manifest-url-key-file <file>', 'key of that certificate')
    .option('--stop-pods-on-exit', 'end all pods with the agent; else they keep running')
    .addOption(
      new Option('--update <mode>', 'an edited pod runs on until its new version can start, or ends at once')
        .choices(['prepare', 'immediate'])
        .default('prepare'),
    )
    .option('--record <file>', 'record what the agent hears and decides, for rxlet replay')
    .addOption(new Option('-v, --v <level>', 'how much to log: 0 the news, 4 every step').argParser(level).default(0));
  for (const { option } of flags) run.addOption(option);

  run.addHelpText('after', '\nA flag wins over --config-dir, which wins over --config.').action((given: RunFlags) => {
    const all = run.opts<Readonly<Record<string, unknown>>>();
    then({
      config: given.config,
      configDir: given.configDir,
      rootDir: given.rootDir,
      socket: given.socket,
      hostnameOverride: given.hostnameOverride,
      nodeIps: given.nodeIp ?? [],
      nodeLabels: given.nodeLabels ?? {},
      imageCredentialProviderConfig: given.imageCredentialProviderConfig,
      imageCredentialProviderBinDir: given.imageCredentialProviderBinDir,
      manifestUrlCaFile: given.manifestUrlCaFile,
      manifestUrlCertFile: given.manifestUrlCertFile,
      manifestUrlKeyFile: given.manifestUrlKeyFile,
      stopPodsOnExit: given.stopPodsOnExit ?? false,
      update: given.update,
      record: given.record,
      verbosity: given.v,
      flags: flags.flatMap((flag) => {
        const value = all[flag.option.attributeName()];
        return value === undefined ? [] : [flagLayer(flag, value)];
      }),
    });
  });
}

interface RunFlags {
  readonly config?: string;
  readonly configDir?: string;
  readonly rootDir: string;
  readonly socket: string;
  readonly hostnameOverride?: string;
  readonly nodeIp?: readonly string[];
  readonly nodeLabels?: Readonly<Record<string, string>>;
  readonly imageCredentialProviderConfig?: string;
  readonly imageCredentialProviderBinDir?: string;
  readonly manifestUrlCaFile?: string;
  readonly manifestUrlCertFile?: string;
  readonly manifestUrlKeyFile?: string;
  readonly stopPodsOnExit?: boolean;
  readonly update: 'prepare' | 'immediate';
  readonly record?: string;
  readonly v: number;
}

function nodeIps(text: string): readonly string[] {
  const addresses = text.split(',').map((address) => address.trim());
  const families = addresses.map(isIP);
  if (families.includes(0)) throw new InvalidArgumentError('It must be an IP address.');
  if (addresses.length > 2 || (addresses.length === 2 && families[0] === families[1])) {
    throw new InvalidArgumentError('It may hold at most one IPv4 and one IPv6 address.');
  }
  return addresses;
}

function nodeLabels(text: string, previous: unknown): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  const labels = pairs.map((pair): readonly [string, string] => {
    const [name = '', value, ...rest] = pair.split('=').map((part) => part.trim());
    if (value === undefined || rest.length > 0) throw new InvalidArgumentError('It must look like a=b,c=d.');
    const problem = nodeLabelProblem(name, value);
    if (problem !== undefined) throw new InvalidArgumentError(`${problem}.`);
    return [name, value];
  });
  return { ...(previous as Readonly<Record<string, string>> | undefined), ...Object.fromEntries(labels) };
}

function level(text: string): number {
  // The kubelet takes -v=2, of which the value is "=2" for everybody else.
  const digits = text.replace(/^=/, '');
  if (!/^\d+$/.test(digits)) throw new InvalidArgumentError('It must be a whole number from 0 up.');
  return Number(digits);
}

/** Commander ends with an exception, for `--help` too. */
function explain(error: unknown, printed: string): Command {
  if (!(error instanceof CommanderError)) throw error;
  if (error.code === 'commander.version') return { kind: 'version' };
  if (error.exitCode === 0) return { kind: 'help', text: printed };
  const message = error.message.replace(/^error: /, '').replace(/\n+/g, ' ');
  return {
    kind: 'error',
    exitCode: EXIT_CODES.usage,
    message,
    hint: 'See rxlet --help, and rxlet COMMAND --help.',
  };
}
