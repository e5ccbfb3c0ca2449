import { concatMap, EMPTY, endWith, ignoreElements, map, NEVER, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CreateContainerRequest } from '../../../src/model/cri/api.ts';
import { RuntimeError } from '../../../src/model/errors.ts';
import { NO_MEMORY, type PodMemory } from '../../../src/model/pod-memory.ts';
import type { PerformContext } from '../../../src/runtime/perform-context.ts';
import { performPlan, type PlanProgress } from '../../../src/runtime/perform-plan.ts';
import type { PodPlan } from '../../../src/runtime/plan-pod.ts';
import type { Container } from '../../../src/model/pod.ts';
import type { Step } from '../../../src/runtime/plan-steps.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import type { Files } from '../../../src/streams/ports/files.ts';
import {
  container,
  context,
  exited,
  fakeCgroups,
  fakeCri,
  fakeFiles,
  observed,
  pod,
  sandbox,
  wanted,
} from '../fakes.ts';
import { marbles } from '../harness.ts';
import { unexpected } from '../operators/unexpected.ts';

const NEW_SANDBOX: Step = { do: 'runSandbox', attempt: 0 };
const start = (name: string, attempt?: number): Step => ({
  do: 'startContainer',
  container: wanted(name),
  why: '',
  ...(attempt === undefined ? {} : { attempt }),
});

function plan(steps: readonly Step[], inside = false): PodPlan {
  const idle = { waiting: new Map(), memory: NO_MEMORY, finished: false };
  return { steps, ...idle, ...(inside ? { sandbox: sandbox() } : {}) };
}

interface World {
  readonly log?: string[];
  readonly cri?: Partial<Cri>;
  readonly files?: Partial<Files>;
  readonly memory?: PodMemory;
  readonly more?: Partial<PerformContext>;
}

const two = pod({ names: ['a', 'b'] });

function perform(of: PodPlan, { log = [], cri = {}, files = {}, memory = NO_MEMORY, more = {} }: World = {}) {
  const node = context({ cri: fakeCri(log, cri), files: fakeFiles(log, files), ...more });
  return performPlan(
    of,
    two,
    observed({ containers: [container({ name: 'a' })], sandboxes: [sandbox()] }),
    memory,
    node,
  );
}

/** A note by the first letter of its reason in small (`F` for what was Failed), `!` before a hook, and `d` for done. */
function letters(progress$: Observable<PlanProgress>): Observable<string> {
  return progress$.pipe(
    map((it) => {
      if (it.kind === 'starting') return '!';
      return it.kind === 'done' ? 'd' : (it.note.reason[0] ?? '').toLowerCase();
    }),
  );
}

/** What it asked of the runtime and the disk, in order, and what came out. */
function outcome(progress$: Observable<PlanProgress>): { readonly said: readonly string[]; readonly error: unknown } {
  const said: string[] = [];
  let failure: unknown;
  progress$.subscribe({
    next: (it) => {
      if (it.kind === 'note') said.push(`${it.note.container ?? ''} ${it.note.reason}`);
      else if (it.kind === 'starting') said.push(`${it.container} is being started`);
      else for (const [name, { reason, message }] of it.failures) said.push(`${name} failed: ${reason}: ${message}`);
    },
    error: (error: unknown) => {
      failure = error;
    },
  });
  return { said, error: failure };
}

const isCri = (call: string): boolean => /^(run|stop|create|start|remove(Cont|Pod)|podSandbox)/.test(call);

describe('performPlan', () => {
  it(
    'does what its diagram shows',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const runSandbox = cold<undefined>('--|');
      const createA = cold('                -----(c|)', { c: { containerId: 'a-0' } });
      const startA = cold<undefined>('           -|');
      const createB = cold<never>('               -----#');
      const expected = '                  --p----c(sp)-(fd|)';

      const cri: Partial<Cri> = {
        runPodSandbox: () => concatAfter(runSandbox, of({ podSandboxId: 's-0' })),
        createContainer: ({ config }) => (config?.metadata?.name === 'a' ? createA : createB),
        startContainer: () => startA,
      };
      expectObservable(letters(perform(plan([NEW_SANDBOX, start('a'), start('b')]), { cri }))).toBe(expected);
      expectSubscriptions(createA.subscriptions).toBe('--^----!');
      expectSubscriptions(startA.subscriptions).toBe('-------^!');
      expectSubscriptions(createB.subscriptions).toBe('--------^----!');
    }),
  );

  it('prepares the disk, makes the sandbox, then each container, in this order', () => {
    const log: string[] = [];
    const { said } = outcome(perform(plan([NEW_SANDBOX, start('a'), start('b')]), { log }));
    expect(log.filter(isCri)).toEqual([
      'runPodSandbox web-0',
      'podSandboxStatus s-0',
      'createContainer a-0',
      'startContainer a-0',
      'createContainer b-0',
      'startContainer b-0',
    ]);
    expect(log.indexOf('makeDir /root/pods/u-1')).toBeLessThan(log.indexOf('runPodSandbox web-0'));
    expect(log.indexOf('makeDir /logs/default_web_u-1')).toBeLessThan(log.indexOf('runPodSandbox web-0'));
    expect(log.indexOf('makeDir /logs/default_web_u-1/a')).toBeLessThan(log.indexOf('createContainer a-0'));
    expect(log.indexOf('writeFile /root/pods/u-1/etc-hosts')).toBeLessThan(log.indexOf('createContainer a-0'));
    expect(log.at(-1)).toBe('link /logs/default_web_u-1/b/0.log');
    expect(said).toEqual(['a Pulled', 'a Created', 'a Started', 'b Pulled', 'b Created', 'b Started']);
  });

  it('makes a container, tells Created, starts it, tells Started, links its log, and then runs its postStart hook', () => {
    const log: string[] = [];
    const hooked = wanted('a', { lifecycle: { postStart: { exec: { command: ['x'] } } } });
    const execSync: Cri['execSync'] = () => of({ exitCode: 0, stdout: new Uint8Array(), stderr: new Uint8Array() });
    perform(plan([{ do: 'startContainer', container: hooked, why: '' }], true), { log, cri: { execSync } }).subscribe({
      next: (it) => log.push(it.kind === 'note' ? it.note.reason : it.kind),
      error: unexpected,
    });
    expect(
      log.slice(log.indexOf('Pulled'), -1).filter((line) => !/^(list|makeDir|writeFile|readFile)/.test(line)),
    ).toEqual([
      'Pulled',
      'createContainer a-0',
      'Created',
      'startContainer a-0',
      'Started',
      'link /logs/default_web_u-1/a/0.log',
      'execSync a-0',
    ]);
  });

  it('tells SandboxChanged before it makes another sandbox of the pod, and not before the first', () => {
    const changes = (...steps: readonly Step[]): readonly string[] => outcome(perform(plan(steps))).said;
    expect(changes({ do: 'stopPod', why: '' }, { do: 'runSandbox', attempt: 1 })).toEqual([
      ' SandboxChanged',
      'a Killing',
    ]);
    expect(changes(NEW_SANDBOX)).toEqual([]);
    expect(changes({ do: 'runSandbox', attempt: 1, quiet: true })).toEqual([]);
    expect(changes({ do: 'stopPod', why: '' })).toEqual(['a Killing']);
  });

  it('tells first what of its resolver a pod does not get as it asked for it', () => {
    const searches = ['a'.repeat(254)];
    const asked = pod({ spec: { dnsPolicy: 'Default', dnsConfig: { searches } } });
    const log: string[] = [];
    const told: string[] = [];
    performPlan(plan([NEW_SANDBOX]), asked, observed({}), NO_MEMORY, context({ cri: fakeCri(log) })).subscribe({
      next: (it) => it.kind === 'note' && told.push(`${it.note.level} ${it.note.reason}, ${log.length} calls`),
      error: unexpected,
    });
    expect(told).toEqual(['Warning DNSConfigForming, 0 calls']);
  });

  it('tells once that there is no cluster to ask for names: of the first sandbox, when it is there', () => {
    const asked = pod({ spec: { dnsPolicy: 'ClusterFirst' } });
    const told = (attempt: number, cri: Partial<Cri> = {}): readonly string[] => {
      const notes: string[] = [];
      const step: Step = { do: 'runSandbox', attempt, quiet: true };
      performPlan(plan([step]), asked, observed({}), NO_MEMORY, context({ cri: fakeCri([], cri) })).subscribe({
        next: (it) => it.kind === 'note' && notes.push(`${it.note.level} ${it.note.reason}`),
        error: () => notes.push('failed'),
      });
      return notes;
    };
    expect(told(0)).toEqual(['Normal MissingClusterDNS']);
    expect(told(0, { runPodSandbox: () => throwError(() => new Error('no network')) })).toEqual(['failed']);
    expect(told(1)).toEqual([]);
  });

  it('runs the sandbox by the handler that the pod asks for', () => {
    const asked = pod({ spec: { runtimeClassName: 'gvisor' } });
    const handlers: (string | undefined)[] = [];
    const cri = fakeCri([], {
      runPodSandbox: ({ runtimeHandler }) => {
        handlers.push(runtimeHandler);
        return of({ podSandboxId: 's-0' });
      },
    });
    outcome(performPlan(plan([NEW_SANDBOX]), asked, observed({}), NO_MEMORY, context({ cri })));
    expect(handlers).toEqual(['gvisor']);
  });

  it('sends no sandbox to the runtime that the node cannot give', () => {
    const log: string[] = [];
    const asked = pod({ spec: { hostUsers: false } });
    const node = context({ cri: fakeCri(log) });
    const { error } = outcome(performPlan(plan([NEW_SANDBOX]), asked, observed({}), NO_MEMORY, node));
    expect(error).toEqual(new Error("can't set `spec.hostUsers: false`, runtime does not support user namespaces"));
    expect(log.filter(isCri)).toEqual([]);
  });

  it('gives each container the configuration of its sandbox, and the hosts file its address', () => {
    const requests: CreateContainerRequest[] = [];
    const texts = new Map([['/etc/resolv.conf', 'nameserver 10.0.0.53']]);
    const cri: Partial<Cri> = {
      createContainer: (request) => {
        requests.push(request);
        return of({ containerId: 'c' });
      },
    };
    outcome(perform(plan([NEW_SANDBOX, start('a')]), { cri, more: { files: fakeFiles([], {}, texts) } }));
    outcome(perform(plan([start('a', 4)], true), { cri, more: { files: fakeFiles([], {}, texts) } }));
    const sandboxConfig = expect.objectContaining({
      metadata: { name: 'web', namespace: 'default', uid: 'u-1', attempt: 0 },
      dnsConfig: { servers: ['10.0.0.53'], searches: [], options: [] },
    }) as unknown;
    expect(requests).toEqual([
      expect.objectContaining({ podSandboxId: 's-0', sandboxConfig }),
      expect.objectContaining({ podSandboxId: 's-0', sandboxConfig }),
    ]);
    expect(requests[1]?.config?.metadata).toEqual({ name: 'a', attempt: 4 });
    expect(texts.get('/root/pods/u-1/etc-hosts')).toContain('10.0.0.7\tweb\n');
  });

  it('gives a new container the addresses of its new sandbox in the order of the families of the node', () => {
    const texts = new Map<string, string>();
    const { facts } = context();
    const network = { ip: '10.0.0.7', additionalIps: [{ ip: 'fd00::7' }] };
    outcome(
      perform(plan([NEW_SANDBOX, start('a')]), {
        cri: { podSandboxStatus: () => of({ status: { network } }) },
        more: { files: fakeFiles([], {}, texts), facts: { ...facts, hostIps: ['2001:db8::2'] } },
      }),
    );
    expect(texts.get('/root/pods/u-1/etc-hosts')).toContain('\nfd00::7\tweb\n10.0.0.7\tweb\n');
  });

  it('counts on from the log files of a container that the runtime has forgotten', () => {
    const log: string[] = [];
    const list: Files['list'] = (path) => of(path === '/logs/default_web_u-1/a' ? ['2.log', '10.log', 'x'] : []);
    outcome(perform(plan([start('a')], true), { log, files: { list } }));
    expect(log).toContain('createContainer a-11');
  });

  it('prepares the disk anew before a container starts in an old sandbox, but not for tidying up alone', () => {
    const log: string[] = [];
    outcome(perform(plan([start('a', 1)], true), { log }));
    expect(log[0]).toBe('makeDir /root/pods/u-1');
    log.length = 0;
    outcome(perform(plan([{ do: 'removeSandbox', sandbox: sandbox() }], true), { log }));
    expect(log).toEqual(['removePodSandbox s-0']);
  });

  it('lets a container that cannot be started stop no other', () => {
    const refuse = (call: string) => throwError(() => new RuntimeError('refused', call, 'no'));
    const log: string[] = [];
    const cri: Partial<Cri> = {
      startContainer: ({ containerId }) => (containerId === 'a-0' ? refuse('StartContainer') : of(undefined)),
    };
    expect(outcome(perform(plan([start('a'), start('b')], true), { log, cri })).said).toEqual([
      'a Pulled',
      'a Created',
      'a Failed',
      'b Pulled',
      'b Created',
      'b Started',
      'a failed: RunContainerError: no',
    ]);
    const images: PerformContext['images'] = { status: () => refuse('ImageStatus'), pull: () => NEVER };
    expect(outcome(perform(plan([start('a'), start('b')], true), { more: { images } })).said).toEqual([
      'a InspectFailed',
      'a Failed',
      'b InspectFailed',
      'b Failed',
      'a failed: ImageInspectError: Failed to inspect image "busybox:1": no',
      'b failed: ImageInspectError: Failed to inspect image "busybox:1": no',
    ]);
    const files: Partial<Files> = { writeFile: () => throwError(() => new Error('ENOSPC: disk full')) };
    expect(outcome(perform(plan([start('a')], true), { files })).said).toEqual([
      'a Pulled',
      'a Failed',
      'a failed: CreateContainerError: ENOSPC: disk full',
    ]);
  });

  it.each<[string, Partial<Container>, Partial<Cri>, string]>([
    [
      'fails a container of which no configuration can be made as CreateContainerConfigError',
      { securityContext: { runAsNonRoot: true } },
      {},
      'CreateContainerConfigError',
    ],
    [
      'fails a container that the runtime does not make as CreateContainerError',
      {},
      { createContainer: () => throwError(() => new RuntimeError('refused', 'CreateContainer', 'no')) },
      'CreateContainerError',
    ],
    [
      'fails a container that the runtime does not start as RunContainerError',
      {},
      { startContainer: () => throwError(() => new RuntimeError('refused', 'StartContainer', 'no')) },
      'RunContainerError',
    ],
    [
      'fails a container whose postStart hook fails as PostStartHookError',
      { lifecycle: { postStart: { exec: { command: ['no'] } } } },
      { execSync: () => throwError(() => new RuntimeError('refused', 'ExecSync', 'no')) },
      'PostStartHookError',
    ],
  ])('%s', (_rule, more, cri, reason) => {
    const starts = plan([{ do: 'startContainer', container: wanted('a', more), why: '' }], true);
    expect(outcome(perform(starts, { cri })).said.at(-1)).toMatch(new RegExp(`^a failed: ${reason}: `));
  });

  it('an image that cannot be had is told a second time, by its reason alone', () => {
    const images: PerformContext['images'] = { status: () => of({}), pull: () => throwError(() => new Error('404')) };
    const told: string[] = [];
    perform(plan([start('a')], true), { more: { images } }).subscribe({
      next: (it) => it.kind === 'note' && told.push(`${it.note.level} ${it.note.reason}: ${it.note.message}`),
      error: unexpected,
    });
    expect(told).toEqual([
      'Normal Pulling: Pulling image "busybox:1"',
      'Warning Failed: Failed to pull image "busybox:1": 404',
      'Warning Failed: Error: ErrImagePull',
    ]);
  });

  it('starts what was made and never started, without making it again', () => {
    const log: string[] = [];
    const created = container({ name: 'a', attempt: 3, state: 'created' });
    const { said } = outcome(perform(plan([{ do: 'startCreated', container: wanted('a'), created }], true), { log }));
    expect(log.filter(isCri)).toEqual(['startContainer a-3']);
    expect(log).toContain('link /logs/default_web_u-1/a/3.log');
    expect(said).toEqual(['a Started']);
  });

  it('errors with what the other steps build on', () => {
    const error = new RuntimeError('refused', 'RunPodSandbox', 'no network');
    const cri: Partial<Cri> = { runPodSandbox: () => throwError(() => error) };
    const log: string[] = [];
    expect(outcome(perform(plan([NEW_SANDBOX, start('a')]), { log, cri })).error).toBe(error);
    expect(log.filter(isCri)).toEqual(['runPodSandbox web-0']);

    const stuck: Partial<Cri> = { stopPodSandbox: () => throwError(() => error) };
    const stop: Step = { do: 'stopPod', why: '' };
    const stopLog: string[] = [];
    expect(outcome(perform(plan([stop, NEW_SANDBOX]), { cri: stuck, log: stopLog })).error).toBe(error);
    expect(stopLog.filter(isCri)).toEqual(['stopContainer a-0', 'stopPodSandbox s-0']);
  });

  it('goes on when tidying up or a link for log collectors fails', () => {
    const broken = (): Observable<never> => throwError(() => new Error('EIO'));
    const steps: readonly Step[] = [
      start('a'),
      { do: 'removeContainer', container: exited(0, 0, { name: 'b' }) },
      { do: 'removeSandbox', sandbox: sandbox({ attempt: 9 }) },
    ];
    const cri: Partial<Cri> = { removeContainer: broken, removePodSandbox: broken };
    const { said, error } = outcome(perform(plan(steps, true), { cri, files: { link: broken } }));
    expect(said).toEqual(['a Pulled', 'a Created', 'a Started']);
    expect(error).toBeUndefined();
  });

  it('removes the link and the log of a container with it, rotated parts too', () => {
    const log: string[] = [];
    const gone = exited(0, 0, { name: 'b' });
    const detail = { startedAt: 0, finishedAt: 0, exitCode: 0, reason: '', message: '', logPath: '/logs/b/0.log' };
    const list = (): Observable<readonly string[]> => of(['0.log', '0.log.20260102-150405.gz', '1.log', '10.log']);
    outcome(perform(plan([{ do: 'removeContainer', container: { ...gone, detail } }], true), { log, files: { list } }));
    expect(log).toEqual([
      'removeFile /links/web_default_b-b-0.log',
      'removeContainer b-0',
      'list /logs/b',
      'removeFile /logs/b/0.log',
      'removeFile /logs/b/0.log.20260102-150405.gz',
    ]);
  });

  describe('remembers pulls', () => {
    const broken: PerformContext['images'] = { status: () => of({}), pull: () => throwError(() => new Error('404')) };
    const pullsAfter = (memory: PodMemory, images: PerformContext['images'], ...names: readonly string[]) => {
      const steps = names.map((image): Step => ({ do: 'startContainer', container: wanted('a', { image }), why: '' }));
      const asked = pod({ spec: { containers: names.map((image) => wanted('a', { image })) } });
      const found = new Map<string, number>();
      performPlan(plan(steps, true), asked, observed({}), memory, context({ images })).subscribe({
        next: (it) => {
          if (it.kind === 'done') for (const [image, { delay }] of it.pulls) found.set(image, delay);
        },
        error: unexpected,
      });
      return Object.fromEntries(found);
    };

    it('a failed pull is remembered by the full name of its image, and the next failure waits longer', () => {
      expect(pullsAfter(NO_MEMORY, broken, 'nginx')).toEqual({ 'nginx:latest': 10_000 });
      const past = new Map([['nginx:latest', { delay: 10_000, until: Date.now() - 1, error: '' }]]);
      expect(pullsAfter({ ...NO_MEMORY, pulls: past }, broken, 'nginx')).toEqual({ 'nginx:latest': 20_000 });
    });

    it('a failed pull counts at once, so that two containers of one image do not try it twice', () => {
      let tries = 0;
      const counted: PerformContext['images'] = {
        ...broken,
        pull: () => {
          tries += 1;
          return throwError(() => new Error('404'));
        },
      };
      expect(pullsAfter(NO_MEMORY, counted, 'x:1', 'x:1')).toEqual({ 'x:1': 10_000 });
      expect(tries).toBe(1);
    });

    it('a failed pull is forgotten when one succeeds, and with the image', () => {
      const past = { delay: 10_000, until: 0, error: '' };
      const memory = {
        ...NO_MEMORY,
        pulls: new Map([
          ['x:1', past],
          ['old:1', past],
        ]),
      };
      expect(pullsAfter(memory, context().images, 'x:1')).toEqual({});
    });
  });

  it(
    'cancels the call in flight when nobody listens any more, and makes no other',
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const log: string[] = [];
      const create = cold<never>('-----');
      const progress$ = perform(plan([start('a'), start('b')], true), { log, cri: { createContainer: () => create } });
      expectObservable(letters(progress$), '^--!').toBe('p');
      expectSubscriptions(create.subscriptions).toBe('^--!');
      flush();
      expect(log.filter(isCri)).toEqual(['createContainer a-0']);
    }),
  );

  it(
    'gives the pod its new amounts, and then its running container',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const resize: Step = { do: 'resizeContainer', container: wanted('a'), running: container({ name: 'a' }) };
      const note = { level: 'Normal', reason: 'ResizeCompleted', message: 'Container a resized', container: 'a' };
      const cgroups = {
        apply: (path: string) => {
          log.push(`cgroup ${path}`);
          return of('set' as const);
        },
        remove: () => of(undefined),
        children: () => of([]),
      };
      const told$ = perform(plan([resize], true), { log, more: { cgroups } }).pipe(
        map((progress) => (progress.kind === 'note' ? progress.note : undefined)),
      );
      expectObservable(told$).toBe('(nd|)', { n: note, d: undefined });
      flush();
      expect(log).toEqual(['cgroup /kubepods/besteffort/podu-1', 'updateContainerResources a-0']);
    }),
  );

  it(
    'gives the pod its new amounts after those of its container where it can shrink only then',
    marbles(({ expectObservable, flush }) => {
      const log: string[] = [];
      const resize: Step = { do: 'resizeContainer', container: wanted('a'), running: container({ name: 'a' }) };
      const cgroups = {
        apply: () => {
          log.push('cgroup');
          return log.includes('updateContainerResources a-0') ? EMPTY : throwError(() => new Error('EINVAL'));
        },
        remove: () => EMPTY,
        children: () => of([]),
      };
      expectObservable(letters(perform(plan([resize], true), { log, more: { cgroups } }))).toBe('(rd|)');
      flush();
      expect(log).toEqual(['cgroup', 'updateContainerResources a-0', 'cgroup']);
    }),
  );

  it('leaves the cgroup alone that is known to be limited so, and sets it where that is not known or wanted otherwise', () => {
    const log: string[] = [];
    const cgroups = fakeCgroups(log);
    const limitsAfter = (limits: string | undefined, config = context().config): string | undefined => {
      let told: string | undefined = 'nothing';
      perform(plan([start('a')], true), {
        log,
        memory: { ...NO_MEMORY, limits },
        more: { cgroups, config },
      }).subscribe({
        next: (it) => {
          if (it.kind === 'done') told = it.limits;
        },
        error: unexpected,
      });
      return told;
    };
    const applied = (): number => log.filter((call) => call.startsWith('apply ')).length;

    const limits = limitsAfter(undefined);
    expect([applied(), limits]).toEqual([1, expect.stringContaining('cpuShares')]);
    expect([limitsAfter(limits), applied()]).toEqual([limits, 1]);
    expect(limitsAfter(limits, { ...context().config, podPidsLimit: 7 })).toContain('"pids":7');
    expect(applied()).toBe(2);
  });

  it('does nothing before anybody listens', () => {
    const log: string[] = [];
    void perform(plan([NEW_SANDBOX, start('a')]), { log });
    expect(log).toEqual([]);
  });
});

/** The value at the end of the call, as the port tells it. */
function concatAfter<T>(call$: Observable<unknown>, value$: Observable<T>): Observable<T> {
  return call$.pipe(
    ignoreElements(),
    endWith(undefined),
    concatMap(() => value$),
  );
}
