import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, of, take, toArray, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TraceOptions } from '../../../../src/cli/command.ts';
import { trace } from '../../../../src/cli/commands/trace.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import { localApi } from '../../../../src/server/local-api.ts';
import { traceRoute } from '../../../../src/server/trace-route.ts';
import { viewRoutes } from '../../../../src/server/view-routes.ts';
import { traceLog, type TraceLog } from '../../../../src/streams/trace/trace-log.ts';
import { NODE, podView } from '../../../unit/cli/commands/views.ts';
import { EMPTY_EVENT_LOG } from '../../../../src/streams/events/event-log.ts';
import { PATIENT } from '../../../patience.ts';

const WEB = { uid: 'uid-web' as PodUid, name: 'web', namespace: 'default' };
const OLD = { uid: 'uid-old' as PodUid, name: 'old-n1', namespace: 'data' };
const PIPE: Terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
const SCREEN: Terminal = { interactive: true, colour: true, columns: 80, rows: 24 };

let folder = '';
let socket = '';
let server: Subscription | undefined;
let log: TraceLog;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-trace-'));
  socket = join(folder, 'rxlet.sock');
  log = traceLog(100);
  log.record({ kind: 'change', pod: WEB, op: 'add', source: 'file' });
  log.record({ kind: 'call', call: 'create_container', took: 34.4, outcome: 'done', pod: WEB, container: 'app' });
  log.record({ kind: 'phase', pod: OLD, from: 'ended', to: 'gone' });
  const view$ = of({ ...NODE, pods: [podView('default/web', ['app'])] });
  await new Promise<void>((done, fail) => {
    server = localApi({
      socket,
      routes: [...viewRoutes({ view$, events$: of(EMPTY_EVENT_LOG) }), traceRoute(log)],
    }).subscribe({
      next: () => {
        done();
      },
      error: fail,
    });
  });
});

afterEach(() => {
  server?.unsubscribe();
  rmSync(folder, { recursive: true });
});

function options(given: Partial<TraceOptions> = {}): TraceOptions {
  return {
    socket,
    namespace: undefined,
    follow: false,
    format: 'text',
    name: undefined,
    marbles: false,
    last: 20,
    ...given,
  };
}

async function said(given: Partial<TraceOptions> = {}, terminal = PIPE): Promise<string> {
  return (await firstValueFrom(trace(options(given), () => terminal).pipe(toArray()))).join('');
}

/** Without the times. */
function plain(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^\d\d:\d\d:\d\d\.\d{3} +/, ''));
}

describe('rxlet trace', () => {
  it('tells what the agent has kept, one line each, and ends', async () => {
    expect(plain(await said())).toEqual([
      'change    web add by file',
      'call      web create_container app, 34 ms',
      'phase     data/old-n1 ended -> gone',
    ]);
  });

  it('tells JSON, one event per line', async () => {
    const lines = (await said({ format: 'json' })).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(['change', 'call', 'phase']);
  });

  it('tells only of one pod, by its name or by that of its manifest, gone or not', async () => {
    expect(plain(await said({ name: 'web' }))).toHaveLength(2);
    expect(plain(await said({ name: 'old' }))).toEqual(['phase     data/old-n1 ended -> gone']);
    expect(plain(await said({ name: 'data/old-n1' }))).toEqual(['phase     data/old-n1 ended -> gone']);
  });

  it('tells only of one namespace', async () => {
    expect(plain(await said({ namespace: 'data' }))).toEqual(['phase     data/old-n1 ended -> gone']);
  });

  it('says so where no such pod is known, and names near ones', async () => {
    await expect(said({ name: 'wbe' })).rejects.toThrow('there is no pod "wbe"');
  });

  it('goes on as things happen', async () => {
    const lines: string[] = [];
    const following = trace(options({ follow: true }), () => PIPE).subscribe(into(lines));
    await vi.waitUntil(() => lines.length === 3, PATIENT);
    log.record({ kind: 'hint', pod: WEB });
    await vi.waitUntil(() => lines.length === 4, PATIENT);
    following.unsubscribe();
    expect(plain(lines[3] ?? '')).toEqual(['hint      web']);
  });

  it('draws marbles once where nobody looks', async () => {
    const text = await said({ marbles: true });
    expect(text).toMatch(/^changes +-+a-*$/m);
    expect(text).toMatch(/^create_container +-+=*o-*$/m);
    expect(text).not.toContain('\u001b');
  });

  it('redraws marbles in place on a terminal, with what has happened since', async () => {
    const drawings: string[] = [];
    const watching = trace(options({ marbles: true }), () => SCREEN).subscribe(into(drawings));
    await vi.waitUntil(() => drawings.length > 0, PATIENT);
    log.record({ kind: 'problem', message: 'a.yaml: bad', mended: false });
    await vi.waitUntil(() => /problems .*x/.test(drawings.at(-1) ?? ''), PATIENT);
    watching.unsubscribe();
    expect(drawings.at(-1)).toMatch(/^\r\u001b\[\d+A/);
    expect(drawings.at(-1)).toContain('\u001b[31mx\u001b[0m');
  });

  it('says that no agent is running where none is', async () => {
    server?.unsubscribe();
    await expect(firstValueFrom(trace(options(), () => PIPE).pipe(take(1)))).rejects.toThrow('no agent is running');
  });
});

function into(list: string[]): { readonly next: (text: string) => void; readonly error: (error: unknown) => never } {
  return {
    next: (text) => {
      list.push(text);
    },
    error: (error) => {
      throw error;
    },
  };
}
