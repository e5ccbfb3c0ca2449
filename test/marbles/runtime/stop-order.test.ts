import { asyncScheduler, concat, defer, ignoreElements, map, NEVER, of, tap, timer, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { PRE_STOP_HANDLER } from '../../../src/model/cri/labels.ts';
import type { Container, Pod } from '../../../src/model/pod.ts';
import { stopContainer, stopPod, type Ending } from '../../../src/runtime/stop-pod.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import type { HttpRequest } from '../../../src/streams/ports/http.ts';
import type { PodNote } from '../../../src/streams/workers/pod-work.ts';
import { container, fakeCri, observed, pod, sandbox, silentHttp, wanted } from '../fakes.ts';
import { marbles } from '../harness.ts';

/** How many milliseconds each container takes to end once it is told to; it is killed at its timeout. */
type Lives = Readonly<Record<string, number>>;

const seen = observed({
  sandboxes: [sandbox()],
  containers: ['main', 'two', 's1', 's2'].map((name) => container({ name })),
});
const of4: Pod = pod({
  spec: {
    initContainers: [sidecar('s1'), wanted('done'), sidecar('s2')],
    containers: [wanted('main'), wanted('two')],
  },
});

function sidecar(name: string, more: Partial<Container> = {}): Container {
  return wanted(name, { restartPolicy: 'Always', ...more });
}

/** A runtime that notes when which container is told to end, and with which timeout, as `500 s1-0 in 30`. */
function runtime(log: string[], lives: Lives = {}, answers: Partial<Cri> = {}): Cri {
  const note = (text: string): void => {
    log.push(`${asyncScheduler.now()} ${text}`);
  };
  return fakeCri([], {
    stopContainer: ({ containerId = '', timeout = 0 }) =>
      defer(() => {
        note(`${containerId} in ${timeout}`);
        return timer(Math.min(lives[containerId.slice(0, -2)] ?? 0, timeout * 1_000)).pipe(map(() => undefined));
      }),
    stopPodSandbox: ({ podSandboxId = '' }) =>
      defer(() => {
        note(podSandboxId);
        return of(undefined);
      }),
    ...answers,
  });
}

function ending(cri: Cri, more: Partial<Ending> = {}): Ending {
  return { cri, http: silentHttp, pod: of4, podIp: '10.0.0.7', ...more };
}

const exec = (...command: readonly string[]): Container['lifecycle'] => ({ preStop: { exec: { command } } });

/** A pod whose `main` has this lifecycle. */
function hooked(lifecycle: Container['lifecycle'], more: Partial<Container> = {}): Pod {
  return pod({ spec: { containers: [wanted('main', { ...(lifecycle ? { lifecycle } : {}), ...more })] } });
}
const alone = observed({ sandboxes: [sandbox()], containers: [container()] });

const letters = (note$: Observable<PodNote>): Observable<string> =>
  note$.pipe(map(({ reason }) => (reason === 'Killing' ? 'k' : 'f')));

describe('stopPod, of a pod with sidecars', () => {
  it(
    'sidecars end after all regular containers, in reverse order of the list, each when the one before has ended',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const lives = { main: 3_000, two: 1_000, s2: 500, s1: 250 };
      expectObservable(letters(stopPod(seen, 30, '', ending(runtime(log, lives))))).toBe('(kkkk) 3744ms |');
      flush();
      expect(log).toEqual(['0 main-0 in 30', '0 two-0 in 30', '3000 s2-0 in 27', '3500 s1-0 in 27', '3750 s-0']);
    }),
  );

  it(
    'no sidecar waits beyond the grace, and each has two seconds then',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const lives = { main: 60_000, two: 0, s2: 60_000, s1: 100 };
      expectObservable(letters(stopPod(seen, 3, '', ending(runtime(log, lives))))).toBe('(kkkk) 4994ms |');
      flush();
      expect(log.filter((line) => !line.startsWith('3000'))).toEqual(['0 main-0 in 3', '0 two-0 in 3', '5000 s-0']);
      expect(log.filter((line) => line.startsWith('3000')).toSorted()).toEqual(['3000 s1-0 in 2', '3000 s2-0 in 2']);
    }),
  );

  it(
    'sidecars do not wait for a container that cannot be ended',
    marbles(({ cold, expectObservable, flush }) => {
      const log: string[] = [];
      const quiet = runtime(log);
      const stop: Cri['stopContainer'] = (request) =>
        request.containerId === 'main-0' ? cold('------#') : quiet.stopContainer(request);
      const cri = { ...quiet, stopContainer: stop };
      expectObservable(letters(stopPod(seen, 30, '', ending(cri)))).toBe('(kkkk)#');
      flush();
      expect(log).toEqual(['0 two-0 in 30', '6 s2-0 in 30', '6 s1-0 in 30']);
    }),
  );

  it(
    'an init container that still runs is ended like a regular one',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const starting = observed({
        sandboxes: [sandbox()],
        containers: [container({ name: 'done' }), container({ name: 's1' })],
      });
      expectObservable(letters(stopPod(starting, 30, '', ending(runtime(log, { done: 1_000 }))))).toBe('(kk) 996ms |');
      flush();
      expect(log).toEqual(['0 done-0 in 30', '1000 s1-0 in 29', '1000 s-0']);
    }),
  );

  it(
    'where nobody knows the pod any more all of its containers are ended at once',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      expectObservable(letters(stopPod(seen, 30, '', ending(runtime(log, { main: 1_000 }), { pod: undefined })))).toBe(
        '(kkkk) 994ms |',
      );
      flush();
      expect(log).toEqual(['0 main-0 in 30', '0 two-0 in 30', '0 s1-0 in 30', '0 s2-0 in 30', '1000 s-0']);
    }),
  );

  it(
    'preStop hooks of sidecars run at once, before it is their turn',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const execs: string[] = [];
      const execSync: Cri['execSync'] = ({ containerId = '' }) =>
        defer(() => {
          execs.push(`${asyncScheduler.now()} ${containerId}`);
          return timer(2_000).pipe(map(() => ({ stdout: undefined, stderr: undefined, exitCode: 0 })));
        });
      const of: Pod = {
        ...of4,
        spec: { ...of4.spec, initContainers: [sidecar('s1', { lifecycle: exec('drain') ?? {} })] },
      };
      const with1 = observed({ sandboxes: [sandbox()], containers: [container(), container({ name: 's1' })] });
      const cri = runtime(log, { main: 5_000 }, { execSync });
      expectObservable(letters(stopPod(with1, 30, '', ending(cri, { pod: of })))).toBe('(kk) 4996ms |');
      flush();
      expect(execs).toEqual(['0 s1-0']);
      expect(log).toEqual(['0 main-0 in 30', '5000 s1-0 in 25', '5000 s-0']);
    }),
  );
});

describe('stopContainer, with a preStop hook', () => {
  it(
    'a preStop command runs before the signal, and its whole seconds are taken off the grace',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const asked: unknown[] = [];
      const cri = runtime(
        log,
        {},
        {
          execSync: (request) =>
            defer(() => {
              asked.push(request);
              return timer(2_900).pipe(map(() => ({ stdout: undefined, stderr: undefined, exitCode: 0 })));
            }),
        },
      );
      expectObservable(letters(stopPod(alone, 10, '', ending(cri, { pod: hooked(exec('drain', '-q')) })))).toBe(
        'k 2899ms |',
      );
      flush();
      expect(asked).toEqual([{ containerId: 'main-0', cmd: ['drain', '-q'], timeout: 0 }]);
      expect(log).toEqual(['2900 main-0 in 8', '2900 s-0']);
    }),
  );

  it(
    'a preStop sleep lasts as long as it says',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const of = hooked({ preStop: { sleep: { seconds: 4 } } });
      expectObservable(letters(stopPod(alone, 10, '', ending(runtime(log), { pod: of })))).toBe('k 3999ms |');
      flush();
      expect(log[0]).toBe('4000 main-0 in 6');
    }),
  );

  it(
    'a preStop request goes to the address of the pod, on the port of that name, be it a sidecar',
    marbles(({ expectObservable, flush }) => {
      const asked: HttpRequest[] = [];
      const http = {
        get: (request: HttpRequest) =>
          defer(() => {
            asked.push(request);
            return timer(1_000).pipe(map(() => 500));
          }),
      };
      const lifecycle = { preStop: { httpGet: { port: 'admin', path: 'drain?now' } } };
      const side = sidecar('side', { ports: [{ name: 'admin', containerPort: 8_081 }], lifecycle });
      const of = pod({ spec: { initContainers: [side] } });
      const log: string[] = [];
      const cri = runtime(log);
      expectObservable(
        letters(stopContainer(container({ name: 'side' }), 10, '', ending(cri, { http, pod: of }))),
      ).toBe('k 999ms |');
      flush();
      expect(asked).toEqual([
        {
          scheme: 'http',
          host: '10.0.0.7',
          port: 8_081,
          path: '/drain?now',
          headers: [['User-Agent', 'kube-lifecycle/1.36']],
        },
      ]);
      expect(log).toEqual(['1000 side-0 in 9']);
    }),
  );

  it(
    'a preStop hook that does not finish within the grace is cut and told, and two seconds are left to end in',
    marbles(({ expectObservable, expectSubscriptions, flush, cold }) => {
      const log: string[] = [];
      const hangs = cold<never>('-');
      const cri = runtime(log, {}, { execSync: () => hangs });
      const late: PodNote = {
        level: 'Warning',
        reason: 'FailedPreStopHook',
        message: 'PreStopHook failed: did not finish in 3 s',
        container: 'main',
      };
      const killing: PodNote = {
        level: 'Normal',
        reason: 'Killing',
        message: 'Stopping container main',
        container: 'main',
      };
      expectObservable(stopPod(alone, 3, '', ending(cri, { pod: hooked(exec('sleep', '20')) }))).toBe('k 2999ms (f|)', {
        k: killing,
        f: late,
      });
      expectSubscriptions(hangs.subscriptions).toBe('^ 2999ms !');
      flush();
      expect(log).toEqual(['3000 main-0 in 2', '3000 s-0']);
    }),
  );

  it(
    'FailedPreStopHook tells a hook that fails, without what it printed, and the container is ended all the same',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const cri = runtime(
        log,
        {},
        {
          execSync: () => of({ stdout: new TextEncoder().encode('secret'), stderr: undefined, exitCode: 1 }),
        },
      );
      const notes: PodNote[] = [];
      const stop$ = stopPod(alone, 3, '', ending(cri, { pod: hooked(exec('false')) })).pipe(
        tap((note) => notes.push(note)),
      );
      expectObservable(letters(stop$)).toBe('(kf|)');
      flush();
      expect(notes[1]).toEqual({
        level: 'Warning',
        reason: 'FailedPreStopHook',
        message: 'PreStopHook failed: the command exited with 1',
        container: 'main',
      });
      expect(log).toEqual(['0 main-0 in 3', '0 s-0']);
    }),
  );

  it(
    'a container is ended all the same when its hook cannot even be tried',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const lifecycle = { preStop: { httpGet: { port: 'nowhere' } } };
      expectObservable(letters(stopPod(alone, 3, '', ending(runtime(log), { pod: hooked(lifecycle) })))).toBe('(kf|)');
      flush();
      expect(log).toEqual(['0 main-0 in 3', '0 s-0']);
    }),
  );

  it(
    'a preStop hook does not run without any grace',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const cri = runtime(log, {}, { execSync: () => NEVER });
      expectObservable(letters(stopContainer(container(), 0, '', ending(cri, { pod: hooked(exec('drain')) })))).toBe(
        '(k|)',
      );
      flush();
      expect(log).toEqual(['0 main-0 in 2']);
    }),
  );

  it(
    'the preStop hook of a pod whose manifest is gone is known from the annotation of its container',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const left = container({ annotations: { [PRE_STOP_HANDLER]: '{"sleep":{"seconds":2}}' } });
      const broken = container({ annotations: { [PRE_STOP_HANDLER]: '{"sleep' } });
      const cri = runtime(log);
      expectObservable(
        concat(
          letters(stopContainer(left, 10, '', ending(cri, { pod: undefined }))),
          letters(stopContainer(broken, 10, '', ending(cri, { pod: undefined }))),
        ),
      ).toBe('k 1999ms (k|)');
      flush();
      expect(log).toEqual(['2000 main-0 in 8', '2000 main-0 in 10']);
    }),
  );

  it(
    'a preStop hook is hung up when the kill is given up',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const hook = cold<never>('-');
      const cri = runtime([], {}, { execSync: () => hook });
      const stop$ = stopPod(alone, 30, '', ending(cri, { pod: hooked(exec('drain')) }));
      expectObservable(stop$.pipe(ignoreElements()), '^----!').toBe('-');
      expectSubscriptions(hook.subscriptions).toBe('^----!');
    }),
  );
});
