import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../../src/cli/program.ts';

/** What a command line is taken for. */
function read(line: string): unknown {
  const command = parseCommandLine(line.split(' '));
  if (command.kind === 'error') throw new Error(command.message);
  return command;
}

const OF_AGENT = ['ps', 'get pods', 'describe web', 'events', 'trace', 'top', 'stop web', 'start web', 'restart web'];
const OF_POD = ['logs web', 'exec web', 'attach web', 'port-forward web'];
/** What must follow. */
const REST: Readonly<Record<string, string>> = { 'exec web': ' -- true', 'port-forward web': ' 80' };

describe('the options of commands', () => {
  it.each([...OF_AGENT, ...OF_POD])(
    'of %s: -n is --namespace, -A is --all-namespaces and what goes without saying',
    (line) => {
      const rest = REST[line] ?? '';
      expect(read(`${line} --namespace data${rest}`)).toEqual(read(`${line} -n data${rest}`));
      expect(read(`${line} -n data${rest}`)).toMatchObject({ options: { namespace: 'data' } });
      expect(read(`${line} --all-namespaces${rest}`)).toEqual(read(`${line}${rest}`));
      expect(read(`${line} -A${rest}`)).toEqual(read(`${line}${rest}`));
      expect(read(`${line} --socket /s${rest}`)).toMatchObject({ options: { socket: '/s' } });
    },
  );

  it.each([
    ['ps -w', 'ps --watch', { watch: true }],
    ['get pods -w', 'get pods --watch', { watch: true }],
    ['events -w', 'events --watch', { watch: true }],
    ['trace -f', 'trace --follow', { follow: true }],
    ['logs web -f', 'logs web --follow', { follow: true }],
    ['logs web -p', 'logs web --previous', { previous: true }],
    ['logs web -c app', 'logs web --container app', { container: 'app' }],
    ['exec web -it -- sh', 'exec web --stdin --tty -- sh', { stdin: true, tty: true }],
    ['exec web -c app -- sh', 'exec web --container app -- sh', { container: 'app' }],
    ['attach web -it', 'attach web --stdin --tty', { stdin: true, tty: true }],
    ['ps -o json', 'ps --output json', { format: 'json' }],
    ['validate -o json a.yaml', 'validate --output json a.yaml', { format: 'json' }],
    ['plan -o json d', 'plan --output json d', { format: 'json' }],
    ['trace -o json', 'trace --output json', { format: 'json' }],
    ['top -o json', 'top --output json', { format: 'json' }],
    ['problems -o json', 'problems --output json', { format: 'json' }],
    ['simulate -o json d', 'simulate --output json d', { format: 'json' }],
    ['replay -o json f', 'replay --output json f', { format: 'json' }],
    ['replay f --until 10m', 'replay f --until 600s', { until: 600_000 }],
    ['run --record f', 'run --record=f', { record: 'f' }],
  ])('%s is %s', (short, long, options) => {
    expect(read(short)).toEqual(read(long));
    expect(read(short)).toMatchObject({ options });
  });
});
