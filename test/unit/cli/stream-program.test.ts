import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../../src/cli/program.ts';

function optionsOf(line: string): unknown {
  const command = parseCommandLine(line.split(' '));
  if (!('options' in command)) throw new Error(JSON.stringify(command));
  return { kind: command.kind, ...command.options };
}

function errorOf(line: string): unknown {
  const command = parseCommandLine(line.split(' '));
  return command.kind === 'error' ? command.message : command;
}

const AGENT = { socket: '/run/rxlet/rxlet.sock', namespace: undefined };

describe('parseCommandLine, of what passes bytes on', () => {
  it('reads logs as kubectl does', () => {
    const none = { follow: false, previous: false, allContainers: false, prefix: false, timestamps: false };
    const all = {
      container: undefined,
      tail: undefined,
      since: undefined,
      sinceTime: undefined,
      limitBytes: undefined,
    };
    expect(optionsOf('logs web')).toEqual({ kind: 'logs', ...AGENT, name: 'web', ...none, ...all });
    expect(optionsOf('logs -f -p --timestamps --prefix --all-containers --tail=5 --since 1m30s -n data web')).toEqual({
      ...{ kind: 'logs', ...AGENT, namespace: 'data', name: 'web', ...all },
      ...{ follow: true, previous: true, allContainers: true, prefix: true, timestamps: true, tail: 5, since: 90 },
    });
    expect(optionsOf('logs web app --since-time 2026-01-02T15:04:05Z --limit-bytes 10')).toMatchObject({
      container: 'app',
      sinceTime: '2026-01-02T15:04:05Z',
      limitBytes: 10,
    });
    expect(optionsOf('logs web --tail -1')).toMatchObject({ tail: undefined });
    expect(errorOf('logs web --tail few')).toContain('It must be a whole number.');
    expect(errorOf('logs web --since yesterday')).toContain('It must look like 10s, 5m or 1h.');
  });

  it('reads the command of exec as it is, after --', () => {
    expect(optionsOf('exec web -it -c app -- ls -l --all')).toEqual({
      ...{ kind: 'exec', ...AGENT, name: 'web', container: 'app', stdin: true, tty: true },
      command: ['ls', '-l', '--all'],
    });
    expect(optionsOf('attach web')).toMatchObject({ kind: 'exec', command: [], stdin: false, tty: false });
    expect(errorOf('exec web')).toContain('command');
  });

  it('reads pairs of ports', () => {
    expect(optionsOf('port-forward web 8080:80 443 :5432')).toEqual({
      ...{ kind: 'portForward', ...AGENT, name: 'web', address: '127.0.0.1' },
      ports: [
        { local: 8080, remote: 80 },
        { local: 443, remote: 443 },
        { local: 0, remote: 5432 },
      ],
    });
    for (const wrong of ['x', '0', ':', '80:', '80:0', '70000', '1:2:3', '80:x'])
      expect(errorOf(`port-forward web ${wrong}`)).toContain('It must look like 8080:80, 8080 or :80.');
    expect(errorOf('port-forward web')).toContain('port');
  });
});
