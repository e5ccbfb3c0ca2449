import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { DEFAULT_KUBELET_CONFIGURATION } from '../../../src/model/config/kubelet-configuration.ts';
import { wireConfig } from '../../../src/model/config/wire-config.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { runningPodsOf } from '../../../src/server/running-pods.ts';
import { healthRoutes } from '../../../src/server/health-routes.ts';
import type { Exchange } from '../../../src/server/route.ts';
import { emptyBook } from '../../../src/streams/book/pod-book.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';
import { of } from 'rxjs';
import { NODE } from '../cli/commands/views.ts';

function ask(path: string, view: NodeView): { readonly status: number; readonly text: string } {
  const [name = '', query] = path.split('?');
  const route = healthRoutes(of(view)).find((each) => each.path === name);
  if (!route) throw new Error(`there is no ${path}`);
  let status = 0;
  let text = '';
  const response = Object.assign(new PassThrough(), {
    headersSent: false,
    setTimeout: () => undefined,
    writeHead: (code: number) => {
      status = code;
    },
    end: (body: string) => {
      text = body;
    },
  });
  const exchange = { response, query: new URLSearchParams(query), params: {} } as unknown as Exchange;
  route.answer(exchange).subscribe({ error: (error: unknown) => (text = String(error)) });
  return { status, text };
}

const READY: NodeView = { ...NODE, plegHealthy: true, runtime: { ...NODE.runtime, ready: true, message: '' } };
const STUCK: NodeView = { ...READY, plegHealthy: false, plegMessage: 'ListContainers: no answer' };
const DOWN: NodeView = { ...READY, runtime: { ...READY.runtime, ready: false, message: 'cni plugin not initialized' } };

describe('healthRoutes', () => {
  it('says ok, and no more unless asked', () => {
    for (const path of ['/healthz', '/healthz/ping', '/healthz/log', '/healthz/syncloop', '/livez', '/readyz']) {
      expect(ask(path, READY)).toEqual({ status: 200, text: 'ok\n' });
    }
    expect(ask('/readyz?verbose', READY)).toEqual({
      status: 200,
      text: '[+]ping ok\n[+]log ok\n[+]syncloop ok\n[+]runtime ok\nreadyz check passed\n',
    });
  });

  it('names what is wrong', () => {
    expect(ask('/healthz', STUCK)).toEqual({
      status: 500,
      text: '[+]ping ok\n[+]log ok\n[-]syncloop failed: ListContainers: no answer\nhealthz check failed\n',
    });
    expect(ask('/healthz/ping', STUCK).status).toBe(200);
    expect(ask('/healthz/syncloop', STUCK).status).toBe(500);
  });

  it('is alive but not ready while the runtime is not', () => {
    expect(ask('/livez', DOWN).status).toBe(200);
    const { status, text } = ask('/readyz', DOWN);
    expect(status).toBe(500);
    expect(text).toContain('[-]runtime failed: cni plugin not initialized\n');
  });

  it('leaves out a check on request', () => {
    expect(ask('/readyz?exclude=runtime', DOWN)).toEqual({ status: 200, text: 'ok\n' });
    expect(ask('/healthz?exclude=syncloop&verbose', STUCK).text).toContain('[+]syncloop excluded: ok\n');
  });
});

describe('wireConfig', () => {
  it('tells durations as text, as a file would, and reads back the same', () => {
    expect(wireConfig(DEFAULT_KUBELET_CONFIGURATION)).toMatchObject({
      kind: 'KubeletConfiguration',
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      syncFrequency: '1m0s',
      fileCheckFrequency: '20s',
      cpuCFSQuotaPeriod: '100ms',
      crashLoopBackOff: { maxContainerRestartPeriod: '5m0s' },
      maxPods: 110,
      evictionHard: { 'memory.available': '100Mi' },
    });
  });

  it('tells no password of URLs and headers', () => {
    expect(
      wireConfig({
        ...DEFAULT_KUBELET_CONFIGURATION,
        staticPodURL: 'https://me:s3cret@a/ http://b/x',
        staticPodURLHeader: { Authorization: ['s3cret'] },
      }),
    ).toMatchObject({ staticPodURL: 'https://a/ http://b/x', staticPodURLHeader: { Authorization: ['<masked>'] } });
  });
});

describe('runningPodsOf', () => {
  it('tells what the runtime runs, wanted or not, and nothing else', () => {
    const uid = 'u-1' as PodUid;
    const container = {
      id: 'c',
      name: 'app',
      sandboxId: 's',
      attempt: 0,
      createdAt: 1,
      image: 'busybox',
      imageRef: 'x',
      annotations: {},
    };
    const stranger = {
      uid,
      name: 'web',
      namespace: 'default',
      revision: 1,
      sandboxes: [{ id: 's', attempt: 0, state: 'ready', createdAt: 1 }],
      containers: [
        { ...container, state: 'running' },
        { ...container, id: 'd', name: 'done', state: 'exited' },
      ],
    } as const;
    const gone = { ...stranger, uid: 'u-2' as PodUid, sandboxes: [], containers: [] };
    const book = emptyBook({ runtimeName: 'x', hostIps: [], update: 'prepare', statuses: new Map() });
    const strangers = new Map([stranger, gone].map((pod) => [pod.uid, pod]));
    expect(runningPodsOf({ ...book, strangers })).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: {},
      items: [
        {
          metadata: { name: 'web', namespace: 'default', uid },
          spec: { containers: [{ name: 'app', image: 'busybox' }] },
          status: {},
        },
      ],
    });
  });
});
