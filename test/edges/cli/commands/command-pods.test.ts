import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, lastValueFrom, of, throwError, toArray, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { client } from '../../../../src/cli/client.ts';
import { parseCommandLine } from '../../../../src/cli/program.ts';
import { stopMemory } from '../../../../src/cli/stop-memory.ts';
import { nodeFiles } from '../../../../src/host/files/node-files.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { PodCommand, PodReply } from '../../../../src/model/pod-command.ts';
import { localApi } from '../../../../src/server/local-api.ts';
import { podCommandRoutes } from '../../../../src/server/pod-command-routes.ts';
import { viewRoutes } from '../../../../src/server/view-routes.ts';
import { NODE, podView } from '../../../unit/cli/commands/views.ts';
import { EMPTY_EVENT_LOG } from '../../../../src/streams/events/event-log.ts';

let folder = '';
let socket = '';
let running: Subscription[] = [];
let heard: PodCommand[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-hand-'));
  socket = join(folder, 'rxlet.sock');
  running = [];
  heard = [];
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  rmSync(folder, { recursive: true });
});

function startAgent(reply: PodReply | Error): Promise<unknown> {
  const spec = { nodeName: 'n1' };
  const pods = [podView('default/web-n1', ['app'], { spec }), podView('data/db-n1', ['db'], { spec })];
  const routes = [
    ...viewRoutes({ view$: of({ ...NODE, pods }), events$: of(EMPTY_EVENT_LOG) }),
    ...podCommandRoutes((command) => {
      heard.push(command);
      return reply instanceof Error ? throwError(() => reply) : of(reply);
    }),
  ];
  return new Promise((done, fail) => {
    running.push(localApi({ socket, routes }).subscribe({ next: done, error: fail }));
  });
}

async function rxlet(line: string): Promise<string> {
  const command = parseCommandLine([...line.split(' '), '--socket', socket]);
  if (command.kind !== 'commandPods') throw new Error(JSON.stringify(command));
  const terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
  const texts = await lastValueFrom(
    client(command, { terminal: () => terminal, stdin: () => process.stdin }).pipe(toArray()),
  );
  return texts.join('');
}

describe('rxlet stop, start and restart', () => {
  it('asks for each pod by its whole name, and says what comes of it', async () => {
    await startAgent({ kind: 'done' });
    expect(await rxlet('stop web data/db')).toBe(
      'default/web-n1 is being stopped; rxlet start web brings it back, and so does a change of its manifest\n' +
        'data/db-n1 is being stopped; rxlet start db brings it back, and so does a change of its manifest\n',
    );
    expect(await rxlet('restart pod web-n1')).toBe('default/web-n1 is being restarted\n');
    expect(heard).toEqual([
      { verb: 'stop', namespace: 'default', name: 'web-n1' },
      { verb: 'stop', namespace: 'data', name: 'db-n1' },
      { verb: 'restart', namespace: 'default', name: 'web-n1' },
    ]);
  });

  it('says when there is nothing to do', async () => {
    await startAgent({ kind: 'nothingToDo' });
    expect(await rxlet('stop web')).toBe('default/web-n1 is stopped already\n');
    expect(await rxlet('start web')).toBe('default/web-n1 is not stopped; rxlet restart begins it anew\n');
  });

  it('does nothing at all where one of the names is no pod', async () => {
    await startAgent({ kind: 'done' });
    await expect(rxlet('stop web wbe')).rejects.toMatchObject({ exitCode: 2, message: 'there is no pod "wbe"' });
    expect(heard).toEqual([]);
  });

  it('says what went wrong', async () => {
    await startAgent({ kind: 'failed', message: 'no space left on device' });
    await expect(rxlet('stop web')).rejects.toMatchObject({
      exitCode: 3,
      message: 'default/web-n1 was left as it is: no space left on device',
    });
  });

  it('says so when the pod went in the meantime', async () => {
    await startAgent({ kind: 'unknown' });
    await expect(rxlet('stop web')).rejects.toMatchObject({ exitCode: 2 });
  });

  it('says so when the agent itself fails', async () => {
    await startAgent(new Error('a defect'));
    await expect(rxlet('stop web')).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('the agent answered 500') as string,
    });
  });
});

describe('stopMemory', () => {
  const kept = { version: 1 as const, stopped: [{ namespace: 'default', name: 'web', uid: 'u1' as PodUid }] };

  it('keeps what is stopped for the next agent, for its owner only', async () => {
    const path = join(folder, 'new/stopped.json');
    await firstValueFrom(stopMemory(path, nodeFiles()).save(kept));
    expect(await firstValueFrom(stopMemory(path, nodeFiles()).load())).toEqual(kept);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(kept);
  });

  it.each([['{"version":1,"stop'], ['{"version":2,"stopped":[]}'], ['{"version":1,"stopped":[{"uid":1}]}']])(
    'takes %s for nothing',
    async (text) => {
      const path = join(folder, 'stopped.json');
      writeFileSync(path, text);
      expect(await firstValueFrom(stopMemory(path, nodeFiles()).load())).toBeUndefined();
    },
  );

  it('knows nothing where no file is', async () => {
    expect(await firstValueFrom(stopMemory(join(folder, 'none'), nodeFiles()).load())).toBeUndefined();
  });
});
