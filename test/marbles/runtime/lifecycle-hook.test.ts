import { asyncScheduler, defer, map, of, tap, timer, toArray, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { containerHash } from '../../../src/model/container-hash.ts';
import { CONTAINER_HASH } from '../../../src/model/cri/labels.ts';
import { NO_MEMORY } from '../../../src/model/pod-memory.ts';
import type { Container } from '../../../src/model/pod.ts';
import { preStopOf, runHook, type LifecycleHandler } from '../../../src/runtime/lifecycle-hook.ts';
import { performPlan, type PlanProgress } from '../../../src/runtime/perform-plan.ts';
import { planPod } from '../../../src/runtime/plan-pod.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import type { Http, HttpRequest } from '../../../src/streams/ports/http.ts';
import { container, context, fakeCri, IMAGE, observed, pod, sandbox, silentHttp, wanted } from '../fakes.ts';
import { marbles } from '../harness.ts';

const target = { containerId: 'main-0', container: { name: 'main' }, podIp: '10.0.0.7' };
const exec: LifecycleHandler = { exec: { command: ['warm', 'up'] } };

/** Handlers as they stand in JSON: a port is a number or a name. */
function httpGet(action: Readonly<Record<string, unknown>>): LifecycleHandler {
  return { httpGet: action } as unknown as LifecycleHandler;
}

function answered(exitCode: number | undefined, after = 0): Cri['execSync'] {
  return () => timer(after).pipe(map(() => ({ stdout: undefined, stderr: undefined, exitCode })));
}

const silent = { cri: fakeCri([]), http: silentHttp };

describe('runHook', () => {
  describe('with a command', () => {
    it(
      'a command has succeeded when it exits with 0',
      marbles(({ expectObservable }) => {
        const run = (code: number | undefined): Observable<unknown> =>
          runHook(exec, target, { ...silent, cri: fakeCri([], { execSync: answered(code, 3) }) });
        expectObservable(run(0)).toBe('---|');
        expectObservable(run(undefined)).toBe('---|'); // zero is left out on the wire
        expectObservable(run(7)).toBe('---#', {}, new Error('the command exited with 7'));
      }),
    );

    it(
      'a hook has no limit of its own',
      marbles(({ cold, expectObservable, expectSubscriptions }) => {
        const call = cold<never>('-');
        const hook$ = runHook(exec, target, { ...silent, cri: fakeCri([], { execSync: () => call }) });
        expectObservable(hook$, '^ 59m !').toBe('-');
        expectSubscriptions(call.subscriptions).toBe('^ 59m !');
      }),
    );
  });

  it(
    'a sleep succeeds when its seconds have passed',
    marbles(({ expectObservable }) => {
      expectObservable(runHook({ sleep: { seconds: 2 } }, target, silent)).toBe('2s |');
      expectObservable(runHook({ sleep: { seconds: 0 } }, target, silent)).toBe('|');
    }),
  );

  it(
    'a hook by tcpSocket, or without any handler, fails',
    marbles(({ expectObservable }) => {
      const tcp = { tcpSocket: { port: 80 } } as unknown as LifecycleHandler;
      const none = new Error('the hook has no handler that can be run');
      expectObservable(runHook(tcp, target, silent)).toBe('#', {}, none);
      expectObservable(runHook({}, target, silent)).toBe('#', {}, none);
    }),
  );

  describe('with a request', () => {
    const ports = [{ name: 'web', containerPort: 8_080 }];
    const asked = (handler: LifecycleHandler, podIp: string | undefined = '10.0.0.7'): HttpRequest | undefined => {
      const requests: HttpRequest[] = [];
      const http: Http = { get: (request) => of(200).pipe(tap(() => requests.push(request))) };
      runHook(handler, { ...target, container: { name: 'main', ports }, podIp }, { ...silent, http }).subscribe();
      return requests[0];
    };
    const agent = ['User-Agent', 'kube-lifecycle/1.36'];

    it.each<[string, LifecycleHandler, Partial<HttpRequest>]>([
      [
        'a request goes to the address of the pod',
        httpGet({ port: 80 }),
        { scheme: 'http', host: '10.0.0.7', port: 80, path: '/' },
      ],
      ['a request goes to the host that it names', httpGet({ port: 80, host: 'db.test' }), { host: 'db.test' }],
      ['an empty host is the address of the pod', httpGet({ port: 80, host: '' }), { host: '10.0.0.7' }],
      ['a port is found by its name in the container', httpGet({ port: 'web' }), { port: 8_080 }],
      ['a port may be a number in text', httpGet({ port: '81' }), { port: 81 }],
      ['a path gets its first slash', httpGet({ port: 80, path: 'a?b=c' }), { path: '/a?b=c' }],
      ['a request is by https where its scheme says so', httpGet({ port: 443, scheme: 'HTTPS' }), { scheme: 'https' }],
      [
        'a request has its own headers, and the user agent kube-lifecycle',
        httpGet({
          port: 80,
          httpHeaders: [
            { name: 'X-A', value: '1' },
            { name: 'X-A', value: '2' },
          ],
        }),
        { headers: [['X-A', '1'], ['X-A', '2'], agent as [string, string]] },
      ],
      [
        'a request may have a user agent of its own',
        httpGet({ port: 80, httpHeaders: [{ name: 'user-agent', value: 'me' }] }),
        { headers: [['user-agent', 'me']] },
      ],
    ])('%s', (_rule, handler, expected) => {
      expect(asked(handler)).toMatchObject(expected);
    });

    it('a request of a pod without an address of its own goes to localhost', () => {
      const requests: HttpRequest[] = [];
      const http: Http = { get: (request) => of(200).pipe(tap(() => requests.push(request))) };
      runHook(httpGet({ port: 80 }), { ...target, podIp: undefined }, { ...silent, http }).subscribe();
      expect(requests[0]?.host).toBe('localhost');
    });

    it(
      'a request has succeeded with any answer, whatever its status',
      marbles(({ cold, expectObservable }) => {
        const hook = (answer$: Observable<number>): Observable<unknown> =>
          runHook(httpGet({ port: 80 }), target, { ...silent, http: { get: () => answer$ } });
        expectObservable(hook(cold('--(a|)', { a: 200 }))).toBe('--|');
        expectObservable(hook(cold('--(a|)', { a: 503 }))).toBe('--|');
        const refused = new Error('connect ECONNREFUSED');
        expectObservable(hook(cold('--#', {}, refused))).toBe('--#', {}, refused);
        const nameless = new Error('the container has no port named "none"');
        expectObservable(runHook(httpGet({ port: 'none' }), target, silent)).toBe('#', {}, nameless);
      }),
    );

    it(
      'https that is answered in http is tried as http, without credentials, and LifecycleHTTPFallback tells it',
      marbles(({ cold, expectObservable, flush }) => {
        const sent: unknown[] = [];
        const http = (error: Error, plain$: Observable<number> = cold('-(a|)', { a: 200 })): Http => ({
          get: ({ scheme, headers }) => {
            sent.push([scheme, headers.map(([name]) => name)]);
            return scheme === 'https' ? cold<number>('-#', {}, error) : plain$;
          },
        });
        const httpHeaders = [{ name: 'authorization', value: 'Bearer secret' }];
        const secure = httpGet({ port: 443, scheme: 'HTTPS', httpHeaders });
        const plain = new Error('error:0A00010B:SSL routines::wrong version number');
        const refused = new Error('connect ECONNREFUSED');
        const run = (of: Http): Observable<unknown> => runHook(secure, target, { ...silent, http: of });
        expectObservable(run(http(plain))).toBe('--(n|)', {
          n: {
            level: 'Warning',
            reason: 'LifecycleHTTPFallback',
            message: 'request to HTTPS lifecycle hook 10.0.0.7:443 got HTTP response, retry with HTTP succeeded',
          },
        });
        expectObservable(run(http(refused))).toBe('-#', {}, refused);
        expectObservable(run(http(plain, cold('-#', {}, refused)))).toBe('--#', {}, plain);
        flush();
        const [first, again] = [
          ['https', ['authorization', 'User-Agent']],
          ['http', ['User-Agent']],
        ];
        expect(sent).toEqual([first, first, first, again, again]);
      }),
    );
  });
});

describe('preStopOf', () => {
  const hook: LifecycleHandler = { sleep: { seconds: 1 } };
  const withHook = (name: string): Container => wanted(name, { lifecycle: { preStop: hook } });
  const of = pod({ spec: { initContainers: [withHook('side')], containers: [withHook('main'), wanted('plain')] } });

  it('the preStop hook is that of the manifest where there is one', () => {
    expect(preStopOf(of, 'main', undefined)).toEqual(hook);
    expect(preStopOf(of, 'side', undefined)).toEqual(hook);
    expect(preStopOf(of, 'plain', '{"sleep":{"seconds":9}}')).toBeUndefined();
  });

  it('the preStop hook of what is in no manifest is that of its annotation', () => {
    expect(preStopOf(undefined, 'main', '{"sleep":{"seconds":9}}')).toEqual({ sleep: { seconds: 9 } });
    expect(preStopOf(of, 'gone', '{"sleep":{"seconds":9}}')).toEqual({ sleep: { seconds: 9 } });
    expect(preStopOf(undefined, 'main', '{"sleep"')).toBeUndefined();
    expect(preStopOf(undefined, 'main', undefined)).toBeUndefined();
  });
});

describe('performPlan, with a postStart hook', () => {
  const of = pod({
    spec: {
      terminationGracePeriodSeconds: 5,
      containers: [wanted('main', { lifecycle: { postStart: exec, preStop: exec } }), wanted('next')],
    },
  });
  const seen = observed({ sandboxes: [sandbox()] });

  /** Performs the first plan of the pod on a runtime whose changing calls are noted with their time. */
  function first(log: string[], answers: Partial<Cri>): Observable<PlanProgress> {
    const calls = ['startContainer', 'stopContainer', 'execSync'] as const;
    const cri = fakeCri([], answers);
    const noting = Object.fromEntries(
      calls.map((name) => [
        name,
        (request: { readonly containerId?: string; readonly timeout?: number }) =>
          defer(() => {
            const grace = name === 'stopContainer' ? ` in ${request.timeout ?? 0}` : '';
            log.push(`${asyncScheduler.now()} ${name} ${request.containerId ?? ''}${grace}`);
            return (cri[name] as (of: typeof request) => Observable<never>)(request);
          }),
      ]),
    );
    const plan = planPod(of, seen, NO_MEMORY, 0, { initial: 10_000, ceiling: 300_000 });
    return performPlan(plan, of, seen, NO_MEMORY, context({ cri: { ...cri, ...noting } }));
  }
  const told = (progress: PlanProgress): string => (progress.kind === 'note' ? progress.note.reason : progress.kind);

  it(
    'starts the next container only when the postStart hook has ended',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      expectObservable(first(log, { execSync: answered(0, 2_000) }).pipe(map(told), toArray())).toBe('2s (n|)', {
        n: ['starting', 'Pulled', 'Created', 'Started', 'Pulled', 'Created', 'Started', 'done'],
      });
      flush();
      expect(log).toEqual(['0 startContainer main-0', '0 execSync main-0', '2000 startContainer next-0']);
    }),
  );

  it(
    'ends a container whose postStart hook failed, with its preStop hook, and goes on with the next one',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const answers = [answered(8, 1_000), answered(0)];
      const execSync: Cri['execSync'] = (request) => (answers.shift() ?? answered(0))(request);
      const progress: PlanProgress[] = [];
      const done$ = first(log, { execSync }).pipe(
        tap((one) => progress.push(one)),
        map(told),
        toArray(),
      );
      expectObservable(done$).toBe('1s (n|)', {
        n: [
          'starting',
          'Pulled',
          'Created',
          'Started',
          'FailedPostStartHook',
          'Killing',
          'Pulled',
          'Created',
          'Started',
          'done',
        ],
      });
      flush();
      expect(log).toEqual([
        '0 startContainer main-0',
        '0 execSync main-0',
        '1000 execSync main-0',
        '1000 stopContainer main-0 in 5',
        '1000 startContainer next-0',
      ]);
      expect(progress[4]).toEqual({
        kind: 'note',
        note: {
          level: 'Warning',
          reason: 'FailedPostStartHook',
          message: 'PostStartHook failed: the command exited with 8',
          container: 'main',
        },
      });
      expect(progress[5]).toMatchObject({ note: { reason: 'Killing', message: 'FailedPostStartHook' } });
      const last = progress.at(-1);
      expect(last?.kind === 'done' ? last.failures.get('main') : undefined).toEqual({
        reason: 'PostStartHookError',
        message: 'the command exited with 8',
      });
    }),
  );

  it(
    'a postStart hook that hangs is hung up when the pod is to end',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const log: string[] = [];
      const hangs = cold<never>('-');
      expectObservable(first(log, { execSync: () => hangs }).pipe(map(told), toArray()), '^ 4s !').toBe('-');
      expectSubscriptions(hangs.subscriptions).toBe('^ 4s !');
      flush();
      expect(log).toEqual(['0 startContainer main-0', '0 execSync main-0']);
    }),
  );

  it(
    'a container that another agent made gets its postStart hook when it is started',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const cri = fakeCri(log, { execSync: answered(0) });
      const made = container({
        name: 'main',
        state: 'created',
        annotations: { [CONTAINER_HASH]: containerHash('main', IMAGE) },
      });
      const then = observed({ sandboxes: [sandbox()], containers: [made, container({ name: 'next' })] });
      const plan = planPod(of, then, NO_MEMORY, 0, { initial: 10_000, ceiling: 300_000 });
      expectObservable(performPlan(plan, of, then, NO_MEMORY, context({ cri })).pipe(map(told))).toBe('(bsd|)', {
        b: 'starting',
        s: 'Started',
        d: 'done',
      });
      flush();
      expect(log).toEqual(['startContainer main-0', 'execSync main-0']);
    }),
  );
});
