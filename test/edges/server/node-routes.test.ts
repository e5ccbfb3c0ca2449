import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BehaviorSubject, of, throwError, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodeRoutes } from '../../../src/cli/node-routes.ts';
import { resolveConfig } from '../../../src/model/config/resolve-config.ts';
import type { RunConfig } from '../../../src/model/config/run-config.ts';
import { nodeUsage } from '../../../src/host/usage/node-usage.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { localApi } from '../../../src/server/local-api.ts';
import { agentMetrics, type AgentMetrics } from '../../../src/server/metrics/agent-metrics.ts';
import type { StatsPorts } from '../../../src/server/stats/collect.ts';
import { viewRoutes } from '../../../src/server/view-routes.ts';
import { EMPTY_EVENT_LOG, recordEvent, type EventLog, type Happened } from '../../../src/streams/events/event-log.ts';
import { book, instance } from '../../marbles/streams/probes/books.ts';
import { parseExposition } from '../../parse-exposition.ts';
import { NODE } from '../../unit/cli/commands/views.ts';
import { PATIENT } from '../../patience.ts';

const POD = { uid: 'u' as PodUid, name: 'web', namespace: 'default' };
const BEGUN: Happened = { of: POD, note: { level: 'Normal', reason: 'Started', message: 'Container started' } };

let folder = '';
let socket = '';
let server: Subscription | undefined;
let metrics: AgentMetrics;
let stats$: BehaviorSubject<StatsPorts | undefined>;
let events$: BehaviorSubject<EventLog>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-node-'));
  socket = join(folder, 'rxlet.sock');
  metrics = agentMetrics();
  stats$ = new BehaviorSubject<StatsPorts | undefined>(undefined);
  events$ = new BehaviorSubject(recordEvent(EMPTY_EVENT_LOG, BEGUN, 1_000));
  const resolved = resolveConfig([]);
  if (resolved.kind === 'refused') throw new Error('the defaults are valid');
  const run = { nodeName: 'n1', config: resolved.config } as RunConfig;
  const spec = {
    containers: [{ name: 'c' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  };
  const book$ = of(book({ uid: 'u', spec, seen: [instance('c1')] }));
  const routes = [
    ...viewRoutes({ view$: of(NODE), events$ }),
    ...nodeRoutes(run, { view$: of(NODE), book$, metrics, stats$ }),
  ];
  await new Promise<void>((done, fail) => {
    server = localApi({ socket, routes: metrics.http.metered(routes, 'local') }).subscribe({
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

interface Told {
  readonly status: number;
  readonly text: string;
}

function ask(path: string): Promise<Told> {
  return new Promise((done, fail) => {
    get({ socketPath: socket, path, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        done({ status: response.statusCode ?? 0, text });
      });
      response.on('error', fail);
    }).on('error', fail);
  });
}

/** A runtime that tells of one container, on this machine. */
function runtime(): StatsPorts {
  const stats = { attributes: { id: 'c1' }, cpu: { usageCoreNanoSeconds: { value: 2e9 } } };
  return {
    cri: {
      listContainerStats: () => of({ stats: [stats] }),
      listPodSandboxStats: () => throwError(() => new Error('not here')),
      imageFsInfo: () => of({}),
    },
    usage: nodeUsage(),
    paths: { rootDir: folder, podLogsDir: folder, containerLinksDir: folder },
  };
}

async function value(path: string, name: string): Promise<number | undefined> {
  const { text } = await ask(path);
  return parseExposition(text).get(name)?.samples[0]?.value;
}

describe('nodeRoutes', () => {
  it('tells on /metrics/probes what containers have answered', async () => {
    metrics.meter({
      kind: 'probe',
      probe: 'liveness',
      result: 'failed',
      took: 5,
      uid: POD.uid,
      namespace: 'default',
      pod: 'web',
      container: 'c',
    });
    expect(await value('/metrics/probes', 'prober_probe_total')).toBe(1);
  });

  it('tells what it can while the runtime has not answered yet', async () => {
    expect((await ask('/stats/summary')).status).toBe(500);
    expect(await value('/metrics/resource', 'scrape_error')).toBe(1);
    expect(await value('/metrics/cadvisor', 'container_scrape_error')).toBe(1);
    expect(await value('/metrics', 'kubelet_node_name')).toBe(1);
  });

  it('leaves all but CPU and memory out of /stats/summary where only they are asked for', async () => {
    stats$.next(runtime());
    const whole = JSON.parse((await ask('/stats/summary')).text) as { readonly node: object };
    expect(whole.node).toHaveProperty('fs');
    const { status, text } = await ask('/stats/summary?only_cpu_and_memory=true');
    const { node } = JSON.parse(text) as { readonly node: object };
    expect(status).toBe(200);
    expect(node).toHaveProperty('cpu.usageCoreNanoSeconds');
    expect(node).not.toHaveProperty('fs');
  });

  it('counts who asks', async () => {
    await ask('/pods');
    await ask('/pods');
    const { text } = await ask('/metrics');
    const told = parseExposition(text).get('kubelet_http_requests_total')?.samples ?? [];
    expect(told.find(({ labels }) => labels['path'] === 'pods')).toMatchObject({
      labels: { method: 'GET', server_type: 'local', long_running: 'false' },
      value: 2,
    });
  });
});

describe('/rxlet/events/watch', () => {
  it('tells what has happened, then each event as it happens, also again', async () => {
    const lines: string[] = [];
    const call = get({ socketPath: socket, path: '/rxlet/events/watch', agent: false }, (response) => {
      response.on('data', (chunk: Buffer) => lines.push(...chunk.toString().trimEnd().split('\n')));
      response.on('error', () => undefined);
    });
    call.on('error', () => undefined);
    await vi.waitUntil(() => lines.length === 1, PATIENT);
    events$.next(recordEvent(events$.value, BEGUN, 2_000));
    await vi.waitUntil(() => lines.length === 2, PATIENT);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { of: POD, reason: 'Started', count: 1 },
      { of: POD, reason: 'Started', count: 2 },
    ]);
    call.destroy();
  });
});
