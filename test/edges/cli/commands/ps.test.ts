import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, lastValueFrom, of, toArray, type Observable, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { CliError } from '../../../../src/cli/cli-error.ts';
import type { PsOptions } from '../../../../src/cli/command.ts';
import { ps } from '../../../../src/cli/commands/ps.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import { localApi } from '../../../../src/server/local-api.ts';
import { viewRoutes } from '../../../../src/server/view-routes.ts';
import type { NodeView } from '../../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from '../../../unit/cli/commands/views.ts';
import { EMPTY_EVENT_LOG } from '../../../../src/streams/events/event-log.ts';

const PAPER: Terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
const SCREEN: Terminal = { ...PAPER, interactive: true };
const PATIENCE = 30_000;

let folder = '';
let socket = '';
let running: Subscription[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-ps-'));
  socket = join(folder, 'rxlet.sock');
  running = [];
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  rmSync(folder, { recursive: true });
});

function startAgent(view$: Observable<NodeView>): Promise<Subscription> {
  return new Promise((done, fail) => {
    const agent = localApi({ socket, routes: viewRoutes({ view$, events$: of(EMPTY_EVENT_LOG) }) }).subscribe({
      next: () => {
        done(agent);
      },
      error: fail,
    });
    running.push(agent);
  });
}

/** What the command prints, as it comes. */
function follow(
  options: Partial<PsOptions>,
  terminal: Terminal,
): { readonly printed: readonly string[]; readonly errors: readonly unknown[] } {
  const printed: string[] = [];
  const errors: unknown[] = [];
  const command$ = ps(
    { socket, watch: true, format: 'table', names: [], namespace: undefined, ...options },
    () => terminal,
  );
  running.push(
    command$.subscribe({ next: (text) => printed.push(text), error: (error: unknown) => errors.push(error) }),
  );
  return { printed, errors };
}

function once(format: PsOptions['format'], which: Partial<PsOptions> = {}): Promise<string> {
  const options = { socket, watch: false, format, names: [], namespace: undefined, ...which };
  return lastValueFrom(ps(options, () => PAPER).pipe(toArray())).then((texts) => texts.join(''));
}

function viewOf(state: 'running' | 'crashed'): NodeView {
  const status = containerStatus('app', state === 'running' ? { running: {} } : { terminated: { exitCode: 1 } });
  return {
    ...NODE,
    pods: [podView('default/web', ['app'], { status: { podIP: '10.0.0.9', containerStatuses: [status] } })],
  };
}

describe('ps', () => {
  it('prints the table once and ends', async () => {
    await startAgent(new BehaviorSubject(viewOf('running')));
    expect(await once('table')).toBe(
      [
        'POD  CONTAINER  STATE    RESTARTS  AGE  IP', //
        'web  app        Running  0         -    10.0.0.9',
        '',
      ].join('\n'),
    );
  });

  it('prints the view as JSON, and names', async () => {
    await startAgent(new BehaviorSubject(viewOf('running')));
    expect(JSON.parse(await once('json'))).toEqual(viewOf('running'));
    expect(await once('name')).toBe('default/web\n');
    expect(await once('wide')).toContain('test/app:1');
  });

  it('prints the view as YAML', async () => {
    await startAgent(new BehaviorSubject(viewOf('running')));
    expect(parse(await once('yaml'))).toEqual(viewOf('running'));
  });

  it('shows only the pods that are asked for, by name and namespace', async () => {
    const pods = [podView('default/web', ['app']), podView('kube-system/dns', ['dns']), podView('default/db', ['db'])];
    await startAgent(new BehaviorSubject({ ...NODE, pods }));
    expect(await once('name', { namespace: 'default' })).toBe('default/web\ndefault/db\n');
    expect(await once('name', { names: ['db', 'kube-system/dns'] })).toBe('kube-system/dns\ndefault/db\n');
    const error = await once('name', { names: ['wbe'] }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 2, message: 'there is no pod "wbe"' });
    expect((error as CliError).hint).toContain('Did you mean web?');
  });

  it('says how to start the agent when nobody answers', async () => {
    const error = await once('table').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ exitCode: 4, message: `no agent is running: nobody answers on ${socket}` });
    expect((error as CliError).hint).toContain('sudo rxlet run --pod-manifest-path');
  });

  it('says so when somebody else answers', async () => {
    const stranger = await listen(createServer((_request, response) => response.writeHead(404).end()));
    const error = await once('table').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 4, message: `the agent on ${socket} cannot be asked: it answered 404` });
    await close(stranger);
  });

  it('says so when the answer is no view', async () => {
    const stranger = await listen(createServer((_request, response) => response.end('hello\n')));
    const error = await once('table').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 4 });
    expect((error as CliError).message).toContain('it sent something else than JSON');
    await close(stranger);
  });

  it('prints a table per change when nobody looks at a screen', async () => {
    const view$ = new BehaviorSubject(viewOf('running'));
    await startAgent(view$);
    const { printed } = follow({}, PAPER);
    await vi.waitFor(() => {
      expect(printed).toHaveLength(1);
    }, PATIENCE);
    view$.next(viewOf('crashed'));
    await vi.waitFor(() => {
      expect(printed).toHaveLength(2);
    }, PATIENCE);
    expect(printed[0]).toContain('Running');
    expect(printed[1]).toContain('Error (1)');
    expect(printed.join('')).not.toContain('\u001b');
    expect(printed[0]).toMatch(/\n\n$/);
  });

  it('prints a line of JSON per change', async () => {
    const view$ = new BehaviorSubject(viewOf('running'));
    await startAgent(view$);
    const { printed } = follow({ format: 'json' }, PAPER);
    await vi.waitFor(() => {
      expect(printed).toHaveLength(1);
    }, PATIENCE);
    view$.next(viewOf('crashed'));
    await vi.waitFor(() => {
      expect(printed.map((line) => JSON.parse(line) as unknown)).toEqual([viewOf('running'), viewOf('crashed')]);
    }, PATIENCE);
  });

  it('redraws the table in its place on a terminal, with every change and as time goes by', async () => {
    const view$ = new BehaviorSubject(viewOf('running'));
    await startAgent(view$);
    const { printed } = follow({}, SCREEN);
    await vi.waitFor(() => {
      expect(printed.length).toBeGreaterThan(1);
    }, PATIENCE);
    expect(printed[0]).toMatch(/^\u001b\[KPOD/);
    expect(printed[1]).toMatch(/^\r\u001b\[2A\u001b\[KPOD/);
    view$.next(viewOf('crashed'));
    await vi.waitFor(() => {
      expect(printed.at(-1)).toContain('Error (1)');
    }, PATIENCE);
    expect(printed.at(-1)).toMatch(/\n\u001b\[J$/);
  });

  it('keeps within the lines of the terminal', async () => {
    const pods = Array.from({ length: 50 }, (_, index) => podView(`default/pod-${index}`, ['app']));
    await startAgent(new BehaviorSubject({ ...NODE, pods }));
    const { printed } = follow({}, { ...SCREEN, rows: 10 });
    await vi.waitFor(() => {
      expect(printed.length).toBeGreaterThan(0);
    }, PATIENCE);
    expect(printed[0]?.split('\n')).toHaveLength(10);
    expect(printed[0]).toContain('… 43 more lines');
  });

  it('waits for an agent that goes away while it is watched', async () => {
    const agent = await startAgent(new BehaviorSubject(viewOf('running')));
    const { printed, errors } = follow({}, PAPER);
    await vi.waitFor(() => {
      expect(printed).toHaveLength(1);
    }, PATIENCE);
    agent.unsubscribe();
    await vi.waitFor(() => {
      expect(printed.at(-1)).toContain('The agent does not answer');
    }, PATIENCE);
    await startAgent(new BehaviorSubject(viewOf('crashed')));
    await vi.waitFor(() => {
      expect(printed.at(-1)).toContain('Error (1)');
    }, PATIENCE);
    expect(printed.filter((text) => text.includes('does not answer'))).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('ends with an error when no agent answers to begin with, watching or not', async () => {
    const { errors } = follow({}, SCREEN);
    await vi.waitFor(() => {
      expect(errors).toMatchObject([{ exitCode: 4 }]);
    }, PATIENCE);
  });
});

function listen(server: Server): Promise<Server> {
  return new Promise((done) => {
    server.listen(socket, () => {
      done(server);
    });
  });
}

function close(server: Server): Promise<unknown> {
  return new Promise((done) => server.close(done));
}
