import { mkdtempSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { defer, finalize, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PodUid } from '../../../src/model/pod.ts';
import { localApi } from '../../../src/server/local-api.ts';
import { traceRoute } from '../../../src/server/trace-route.ts';
import type { TraceEvent, TraceFact } from '../../../src/streams/trace/trace-event.ts';
import { traceLog, type TraceLog } from '../../../src/streams/trace/trace-log.ts';
import { PATIENT } from '../../patience.ts';

const WEB = { uid: 'u' as PodUid, name: 'web', namespace: 'default' };
const DB = { uid: 'v' as PodUid, name: 'db', namespace: 'data' };
const CAPACITY = 50;

let folder = '';
let socket = '';
let server: Subscription | undefined;
let log: TraceLog;
/** How many clients the route reads the log for. */
let readers = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-trace-'));
  socket = join(folder, 'rxlet.sock');
  log = traceLog(CAPACITY);
  readers = 0;
  const count$ = defer(() => {
    readers++;
    return log.count$.pipe(
      finalize(() => {
        readers--;
      }),
    );
  });
  await new Promise<void>((done, fail) => {
    server = localApi({ socket, routes: [traceRoute({ after: log.after, count$ })] }).subscribe({
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

function ask(query = ''): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    get({ socketPath: socket, path: `/rxlet/trace${query}`, agent: false }, done).on('error', fail);
  });
}

/** The lines received so far. */
function collect(response: IncomingMessage): readonly TraceEvent[] {
  const events: TraceEvent[] = [];
  let rest = '';
  response.setEncoding('utf8');
  response.on('error', () => undefined);
  response.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    events.push(...lines.map((line) => JSON.parse(line) as TraceEvent));
  });
  return events;
}

async function all(query = ''): Promise<readonly TraceEvent[]> {
  const response = await ask(query);
  const events = collect(response);
  await new Promise((done) => response.on('end', done));
  return events;
}

const hint = (pod: typeof WEB): TraceFact => ({ kind: 'hint', pod });

describe('/rxlet/trace', () => {
  it('tells what is kept, one event per line, and ends', async () => {
    for (let n = 0; n < CAPACITY + 10; n++) log.record({ kind: 'snapshot', pods: n });
    const events = await all();
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: CAPACITY }, (_, index) => index + 11));
    expect(events[0]).toMatchObject({ seq: 11, kind: 'snapshot', pods: 10 });
  });

  it('answers with no line where nothing has happened', async () => {
    expect(await all()).toEqual([]);
  });

  it('goes on with each event as it happens when it is followed', async () => {
    log.record(hint(WEB));
    const response = await ask('?follow');
    const events = collect(response);
    await vi.waitUntil(() => events.length === 1, PATIENT);
    log.record(hint(DB));
    log.record(hint(WEB));
    await vi.waitUntil(() => events.length === 3, PATIENT);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    response.destroy();
  });

  it('leaves only what is about one pod', async () => {
    log.record(hint(WEB));
    log.record(hint(DB));
    log.record({ kind: 'relist', took: 3, failed: false });
    log.record({ kind: 'problem', message: 'a.yaml: bad', mended: false, name: 'data/db' });
    log.record({ kind: 'call', call: 'version', took: 1, outcome: 'done' });
    log.record({ kind: 'call', call: 'run_podsandbox', took: 1, outcome: 'done', pod: DB });
    expect((await all('?pod=data/db')).map(({ seq }) => seq)).toEqual([2, 4, 6]);
    expect(await all('?pod=data/web')).toEqual([]);
  });

  it('refuses a pod without namespace', async () => {
    const response = await ask('?pod=web');
    expect(response.statusCode).toBe(400);
    response.resume();
  });

  it('keeps nothing for a reader that does not read, and tells it how much went by', async () => {
    const response = await ask('?follow');
    await setImmediate();
    const total = 20_000;
    const why = 'x'.repeat(1_000);
    for (let n = 0; n < total; n++) {
      log.record({ kind: 'work', pod: WEB, work: 'sync', why });
      if (n % 100 === 0) await setImmediate();
    }
    const events = collect(response);
    await vi.waitUntil(() => events.at(-1)?.seq === total, { timeout: 20_000 });
    response.destroy();

    const gaps = events.flatMap((event) => (event.kind === 'gap' ? [event.lost] : []));
    const told = events.filter(({ kind }) => kind !== 'gap');
    expect(gaps.length).toBeGreaterThan(0);
    expect(told.length + gaps.reduce((sum, lost) => sum + lost, 0)).toBe(total);
    expect(told.length).toBeLessThan(total / 4);
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
  });

  it('forgets a reader that has gone', async () => {
    const response = await ask('?follow');
    log.record(hint(WEB));
    const events = collect(response);
    await vi.waitUntil(() => events.length === 1, PATIENT);
    expect(readers).toBe(1);
    response.destroy();
    await vi.waitUntil(() => readers === 0, PATIENT);
    log.record(hint(WEB));
    expect(events).toHaveLength(1);
  });
});
