import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, lastValueFrom, materialize, of, toArray, type Observable, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { client } from '../../../../src/cli/client.ts';
import type { CliError } from '../../../../src/cli/cli-error.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { localApi } from '../../../../src/server/local-api.ts';
import type { Route } from '../../../../src/server/route.ts';
import { send } from '../../../../src/server/send.ts';
import { viewRoutes } from '../../../../src/server/view-routes.ts';
import { EMPTY_EVENT_LOG, recordEvent, type EventLog } from '../../../../src/streams/events/event-log.ts';
import type { NodeView } from '../../../../src/streams/view/node-view.ts';
import { NODE, podView } from '../../../unit/cli/commands/views.ts';

const PAPER: Terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
const PATIENCE = 30_000;

let folder = '';
let socket = '';
let running: Subscription[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-look-'));
  socket = join(folder, 'rxlet.sock');
  running = [];
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  rmSync(folder, { recursive: true });
});

function startAgent(view: NodeView, events$: Observable<EventLog> = of(EMPTY_EVENT_LOG)): Promise<unknown> {
  return new Promise((done, fail) => {
    const routes = viewRoutes({ view$: of(view), events$ });
    running.push(localApi({ socket, routes }).subscribe({ next: done, error: fail }));
  });
}

function output(line: string): Observable<string> {
  const command = parseCommandLine([...line.split(' '), '--socket', socket]);
  const { kind } = command;
  if (kind === 'error' || kind === 'run' || kind === 'serve' || kind === 'help' || kind === 'version')
    throw new Error(JSON.stringify(command));
  if (kind === 'logs' || kind === 'exec' || kind === 'portForward') throw new Error(`${kind} passes bytes on`);
  return client(command, { terminal: () => PAPER, stdin: () => process.stdin });
}

interface Said {
  readonly out: string;
  readonly end: Pick<CliError, 'message' | 'hint' | 'exitCode'> | undefined;
}

/** What `rxlet` prints and how it ends, run with these arguments. */
async function rxlet(line: string): Promise<Said> {
  const told = await lastValueFrom(output(line).pipe(materialize(), toArray()));
  const end = told.find((one) => one.kind === 'E')?.error as CliError | undefined;
  return { out: told.map((one) => (one.kind === 'N' ? one.value : '')).join(''), end };
}

function happened(log: EventLog, name: string, reason: string, at = Date.now()): EventLog {
  const of = { uid: `uid-${name}` as PodUid, name, namespace: 'default' };
  return recordEvent(log, { of, note: { level: 'Normal', reason, message: `${reason} it` } }, at);
}

const spec = { nodeName: 'n1' };
const VIEW: NodeView = {
  ...NODE,
  pods: [podView('default/web-n1', ['app'], { spec }), podView('default/db-n1', ['db'], { spec })],
  problems: [
    {
      source: 'file',
      origin: '/m/web.yaml',
      position: { line: 3, column: 1 },
      field: 'spec',
      pod: 'default/web-n1',
      message: 'is odd',
    },
  ],
};

describe('rxlet describe', () => {
  it('shows a pod with its own events and problems', async () => {
    await startAgent(VIEW, of(happened(happened(EMPTY_EVENT_LOG, 'web-n1', 'Pulled'), 'db-n1', 'Started')));
    const { out, end } = await rxlet('describe pod web');
    expect(end).toBeUndefined();
    expect(out).toMatch(/^\/m\/web\.yaml:3:1: spec: is odd\n\nName: {9}web-n1\n/);
    expect(out).toContain('Pulled it');
    expect(out).not.toContain('Started it');
    expect((await rxlet('describe db')).out).not.toContain('is odd');
  });

  it('shows all pods where none is named', async () => {
    await startAgent(VIEW);
    expect((await rxlet('describe')).out.match(/^Name: .*$/gm)).toEqual([
      'Name:         web-n1',
      'Name:         db-n1',
    ]);
    expect((await rxlet('describe -n data')).out).toBe('No pods.\n');
  });

  it('names what is near to a name that nobody has', async () => {
    await startAgent(VIEW);
    expect(await rxlet('describe wbe')).toMatchObject({
      out: '',
      end: { exitCode: 2, message: 'there is no pod "wbe"', hint: 'Did you mean web-n1? rxlet ps lists all pods.' },
    });
  });
});

describe('rxlet events', () => {
  const LOG = happened(happened(EMPTY_EVENT_LOG, 'web-n1', 'Pulled'), 'db-n1', 'Started');

  it('lists what has happened, of all pods or of one', async () => {
    await startAgent(VIEW, of(LOG));
    expect((await rxlet('events')).out).toMatch(
      /^AGE +TYPE +REASON +POD +MESSAGE\n\d+s +Normal +Pulled +web-n1 +Pulled it\n\d+s +Normal +Started +db-n1 +Started it\n$/,
    );
    expect((await rxlet('events --for web -o name')).out).toBe('default/web-n1\n');
    expect((await rxlet('get events -n data')).out).toBe('No events.\n');
    expect(JSON.parse((await rxlet('events -o json')).out)).toEqual([...LOG.events.values()]);
    expect((await rxlet('events -o yaml --for db')).out).toContain('reason: Started\n');
  });

  it('knows the events of a pod that is gone', async () => {
    await startAgent(NODE, of(LOG));
    expect((await rxlet('events --for web-n1 -o name')).out).toBe('default/web-n1\n');
    expect((await rxlet('events --for nobody')).end).toMatchObject({ exitCode: 2 });
  });

  it('follows: what was, then each event as it happens, and again when it happens again', async () => {
    const log$ = new BehaviorSubject(happened(EMPTY_EVENT_LOG, 'web-n1', 'Pulled'));
    await startAgent(VIEW, log$);
    const lines: string[] = [];
    running.push(output('events -w').subscribe({ next: (text) => lines.push(text), error: ignore }));
    await vi.waitFor(() => {
      expect(lines.join('')).toMatch(/^AGE .*\n.* Pulled +web-n1/);
    }, PATIENCE);
    log$.next(happened(log$.value, 'db-n1', 'Started'));
    await vi.waitFor(() => {
      expect(lines.at(-1)).toContain('Started it');
    }, PATIENCE);
    log$.next(happened(log$.value, 'web-n1', 'Pulled'));
    await vi.waitFor(() => {
      expect(lines.at(-1)).toMatch(/\(x2 over .*Pulled +web-n1/);
    }, PATIENCE);
    expect(lines).toHaveLength(4);
  });

  it('follows in JSON, one line per event of the pod that is meant', async () => {
    const log$ = new BehaviorSubject(LOG);
    await startAgent(VIEW, log$);
    const lines: string[] = [];
    running.push(output('events -w -o json --for web').subscribe({ next: (text) => lines.push(text), error: ignore }));
    log$.next(happened(happened(log$.value, 'db-n1', 'Killing'), 'web-n1', 'Killing'));
    await vi.waitFor(() => {
      expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual(['Pulled', 'Killing']);
    }, PATIENCE);
  });
});

describe('rxlet problems', () => {
  it('lists them and ends with 1', async () => {
    await startAgent(VIEW);
    expect(await rxlet('problems')).toMatchObject({
      out: '/m/web.yaml:3:1: spec: is odd\n',
      end: { exitCode: 1, message: '1 problem' },
    });
    expect(JSON.parse((await rxlet('problems -o json')).out)).toEqual(VIEW.problems);
  });

  it('ends with 0 where there are none', async () => {
    await startAgent(NODE);
    expect(await rxlet('problems')).toEqual({ out: 'No problems.\n', end: undefined });
    expect(await rxlet('problems -o json')).toEqual({ out: '[]\n', end: undefined });
  });
});

describe('rxlet top', () => {
  it('shows what the summary of the agent says, of one namespace where it is asked for', async () => {
    const pods = ['default', 'data'].map((namespace) => ({
      podRef: { name: `${namespace}-pod`, namespace },
      cpu: { usageNanoCores: 5e6 },
      containers: [],
    }));
    const answer: Route['answer'] = ({ response }) => send(response, { status: 200, json: { pods } });
    await new Promise((done, fail) => {
      const routes: readonly Route[] = [{ path: '/stats/summary', access: 'node', answer }];
      running.push(localApi({ socket, routes }).subscribe({ next: done, error: fail }));
    });
    expect((await rxlet('top')).out).toMatch(/^POD .*\ndata\/data-pod +5m +-\ndefault-pod +5m +-\n$/);
    expect((await rxlet('top pods -n default')).out).not.toContain('data-pod');
    expect(JSON.parse((await rxlet('top -o json')).out)).toEqual({ pods });
  });

  it('says so where the agent does not know the question', async () => {
    await startAgent(NODE);
    expect((await rxlet('top')).end).toMatchObject({ exitCode: 4 });
  });
});

describe('every command that asks the agent', () => {
  it.each([['ps'], ['get pods'], ['describe web'], ['events'], ['events -w'], ['problems'], ['top']])(
    'says how to start the agent where none answers: %s',
    async (line) => {
      const { end } = await rxlet(line);
      expect(end).toMatchObject({ exitCode: 4, message: `no agent is running: nobody answers on ${socket}` });
      expect(end?.hint).toContain('sudo rxlet run --pod-manifest-path');
    },
  );
});

function ignore(): void {
  // The agent goes at the end of the test; what is printed before that is what counts.
}
