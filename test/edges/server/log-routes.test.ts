import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { BehaviorSubject, of, Subject, type Observable, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogOptions } from '../../../src/model/logs/log-options.ts';
import type { PodStatus } from '../../../src/model/pod.ts';
import { localApi } from '../../../src/server/local-api.ts';
import { logRoutes, type LogRoutesConfig } from '../../../src/server/log-routes.ts';
import type { NodeView } from '../../../src/streams/view/node-view.ts';
import { containerStatus, NODE, podView } from '../../unit/cli/commands/views.ts';
import { PATIENT } from '../../patience.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

let folder = '';
let running: Subscription | undefined;
let view$: BehaviorSubject<NodeView>;
let written$: Subject<undefined>;
let asked: { readonly id: string; readonly options: LogOptions; readonly ended: AbortSignal }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-logs-'));
  asked = [];
  written$ = new Subject();
  view$ = new BehaviorSubject(withState({ running: {} }));
});
afterEach(() => {
  running?.unsubscribe();
  rmSync(folder, { recursive: true });
});

function withState(state: ContainerStatus['state'], more: Partial<ContainerStatus> = {}): NodeView {
  const status = containerStatus('web', state, { containerID: 'containerd://new', ...more });
  return { ...NODE, pods: [podView('default/web', ['web'], { status: { containerStatuses: [status] } })] };
}

type Opened = ReturnType<LogRoutesConfig['openLog']> extends Observable<infer T> ? T : never;

function serve(opened: Opened): Promise<void> {
  const routes = logRoutes({
    view$,
    openLog: (id, options, ended) => {
      asked.push({ id, options, ended });
      return of(opened);
    },
    whenWritten: () => written$,
  });
  return new Promise((done, fail) => {
    running = localApi({ socket: join(folder, 'socket'), routes }).subscribe({
      next: () => {
        done();
      },
      error: fail,
    });
  });
}

function ask(path: string): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const call = request({ socketPath: join(folder, 'socket'), path, agent: false }, done);
    call.on('error', fail);
    call.end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return text;
}

describe('/containerLogs', () => {
  it('sends the log of the container that runs, by the query', async () => {
    await serve({ kind: 'log', bytes: Readable.from([Buffer.from('hello\n')]) });
    const response = await ask('/containerLogs/default/web/web?tailLines=3&timestamps=true&limitBytes=9&stream=Stderr');
    expect([response.statusCode, response.headers['content-type'], await textOf(response)]).toEqual([
      200,
      'text/plain',
      'hello\n',
    ]);
    expect(asked[0]).toMatchObject({
      id: 'new',
      options: { tailLines: 3, timestamps: true, limitBytes: 9, stream: 'Stderr', follow: false, previous: false },
    });
  });

  it('sends that of the instance before with `previous`, and that of the last one that began', async () => {
    const before = { lastState: { terminated: { containerID: 'containerd://old', exitCode: 1 } } };
    await serve({ kind: 'log', bytes: Readable.from([]) });
    view$.next(withState({ running: {} }, before));
    await textOf(await ask('/containerLogs/default/web/web?previous=true'));
    view$.next(withState({ waiting: { reason: 'CrashLoopBackOff' } }, before));
    await textOf(await ask('/containerLogs/default/web/web'));
    expect(asked.map(({ id }) => id)).toEqual(['old', 'old']);
  });

  it.each([
    ['/containerLogs/default/other/web', 404, 'there is no pod other'],
    ['/containerLogs/other/web/web', 404, 'in the namespace other'],
    ['/containerLogs/default/web/db', 404, 'the pod has no container db; it has web'],
    ['/containerLogs/default/web/web?previous=true', 400, 'no previous instance'],
    ['/containerLogs/default/web/web?tailLines=-1', 400, 'tailLines must be a whole number'],
    ['/containerLogs/default/web/web?limitBytes=0', 400, 'limitBytes must be a whole number from 1 up'],
    ['/containerLogs/default/web/web?sinceSeconds=5&sinceTime=2026-01-02T15:04:05Z', 400, 'only one of'],
    ['/containerLogs/default/web/web?sinceTime=yesterday', 400, 'sinceTime must look like'],
    ['/containerLogs/default/web/web?follow=perhaps', 400, 'follow must be true or false'],
    ['/containerLogs/default/web/web?stream=stdout', 400, 'stream must be one of All, Stdout, Stderr'],
  ])('refuses %s with %i and says why', async (path, status, text) => {
    await serve({ kind: 'log', bytes: Readable.from([]) });
    const response = await ask(path);
    expect([response.statusCode, await textOf(response)]).toEqual([status, expect.stringContaining(text)]);
    expect(asked).toEqual([]);
  });

  it('says why a container that has not started has none', async () => {
    await serve({ kind: 'log', bytes: Readable.from([]) });
    view$.next(withState({ waiting: { reason: 'ImagePullBackOff' } }));
    const response = await ask('/containerLogs/default/web/web');
    expect([response.statusCode, await textOf(response)]).toEqual([
      400,
      'container web has not started yet: ImagePullBackOff\n',
    ]);
  });

  it('says that a log has gone', async () => {
    await serve({ kind: 'none', why: 'the log is not there any more' });
    const response = await ask('/containerLogs/default/web/web');
    expect([response.statusCode, await textOf(response)]).toEqual([404, 'the log is not there any more\n']);
  });

  it('begins to answer a follower at once, and tells the reader of the log when the container has ended and the runtime has written all of it', async () => {
    const bytes = new PassThrough();
    await serve({ kind: 'log', bytes });
    const response = await ask('/containerLogs/default/web/web?follow=true');
    expect(asked[0]?.ended.aborted).toBe(false);
    view$.next(withState({ terminated: { exitCode: 0, containerID: 'containerd://new' } }));
    expect(asked[0]?.ended.aborted).toBe(false);
    written$.next(undefined);
    expect(asked[0]?.ended.aborted).toBe(true);
    bytes.end('the last words\n');
    expect(await textOf(response)).toBe('the last words\n');
  });

  it('lets go of the log when the client goes away', async () => {
    const bytes = new PassThrough();
    await serve({ kind: 'log', bytes });
    const response = await ask('/containerLogs/default/web/web?follow=true');
    response.on('error', () => undefined);
    response.destroy();
    await vi.waitFor(() => {
      expect(bytes.destroyed).toBe(true);
    }, PATIENT);
  });

  it('cuts the answer short where the log breaks, so that the client notices', async () => {
    const bytes = new PassThrough();
    await serve({ kind: 'log', bytes });
    const response = await ask('/containerLogs/default/web/web');
    bytes.write('some');
    response.once('data', () => bytes.destroy(new Error('disk')));
    await expect(textOf(response)).rejects.toThrow('aborted');
  });
});
