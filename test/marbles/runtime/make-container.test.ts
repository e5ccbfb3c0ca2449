import { NEVER, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CreateContainerRequest } from '../../../src/model/cri/api.ts';
import type { Container, PodSpec } from '../../../src/model/pod.ts';
import { userNamespaceAt } from '../../../src/model/user-namespace.ts';
import { StartError } from '../../../src/runtime/ensure-image.ts';
import { makeContainer, type Surroundings } from '../../../src/runtime/make-container.ts';
import type { Cri } from '../../../src/streams/ports/cri.ts';
import { context, fakeCri, fakeFiles, pod, wanted } from '../fakes.ts';
import { marbles } from '../harness.ts';

const AROUND: Surroundings = {
  restartCount: 2,
  image: { ref: 'sha256:1' },
  volumeImages: new Map(),
  sandboxId: 's-0',
  ips: ['10.0.0.7'],
  sandbox$: of({ runtimeHandler: '', config: { hostname: 'web' }, problems: [] }),
};

interface Case {
  readonly spec?: Partial<PodSpec>;
  readonly container?: Partial<Container>;
  readonly around?: Partial<Surroundings>;
  readonly cri?: Partial<Cri>;
}

function make({ spec = {}, container = {}, around = {}, cri = {} }: Case) {
  const log: string[] = [];
  const requests: CreateContainerRequest[] = [];
  const runtime = fakeCri(log, {
    createContainer: (request) => {
      requests.push(request);
      return of({ containerId: 'c-1' });
    },
    ...cri,
  });
  const node = context({ cri: runtime, files: fakeFiles(log) });
  const id$ = makeContainer(pod({ spec }), wanted('main', container), { ...AROUND, ...around }, node);
  return { id$, log, requests };
}

function outcome({ id$ }: ReturnType<typeof make>): unknown {
  let result: unknown;
  id$.subscribe({
    next: (id) => {
      result = id;
    },
    error: (error: unknown) => {
      result = error instanceof StartError ? `${error.reason}: ${error.message}` : error;
    },
  });
  return result;
}

const IP: NonNullable<Container['env']> = [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
const variableOf = ({ requests }: ReturnType<typeof make>): string =>
  new TextDecoder().decode(requests[0]?.config?.envs?.[0]?.value);

describe('makeContainer', () => {
  it('makes the container in its sandbox and tells its id', () => {
    const made = make({});
    expect(outcome(made)).toBe('c-1');
    expect(made.requests).toMatchObject([
      {
        podSandboxId: 's-0',
        sandboxConfig: { hostname: 'web' },
        config: { metadata: { name: 'main', attempt: 2 }, image: { image: 'sha256:1' } },
      },
    ]);
  });

  it('lays the files out before: the log folder, the hosts file, the termination log', () => {
    const made = make({});
    outcome(made);
    expect(made.log).toEqual([
      'makeDir /logs/default_web_u-1/main',
      'writeFile /root/pods/u-1/etc-hosts',
      'makeDir /root/pods/u-1/containers',
      'makeDir /root/pods/u-1/containers/main',
      'writeFile /root/pods/u-1/containers/main/00000000',
      expect.stringMatching(/^createContainer/),
    ]);
  });

  it('makes the log folder of a container with mode 0755', () => {
    const made: unknown[] = [];
    const files = fakeFiles([], {
      makeDir: (path, mode) => {
        made.push([path, mode]);
        return of(undefined);
      },
    });
    makeContainer(pod(), wanted(), AROUND, context({ files })).subscribe();
    expect(made[0]).toEqual(['/logs/default_web_u-1/main', 0o755]);
  });

  it("tells the container the sandbox's address, or the node's on the network of the node", () => {
    const own = make({ container: { env: IP } });
    const shared = make({ container: { env: IP }, spec: { hostNetwork: true }, around: { ips: [] } });
    outcome(own);
    outcome(shared);
    expect([own, shared].map(variableOf)).toEqual(['10.0.0.7', '192.0.2.2']);
  });

  it('gives the container the users of its sandbox', () => {
    const userNamespace = userNamespaceAt({ start: 131_072, length: 65_536 });
    const made = make({ around: { sandbox$: of({ runtimeHandler: '', userNamespace, config: {}, problems: [] }) } });
    outcome(made);
    expect(made.requests[0]?.config?.linux?.securityContext?.namespaceOptions?.usernsOptions).toEqual(userNamespace);
  });

  it.each<[rule: string, image: Surroundings['image'], problem: string]>([
    [
      'refuses with CreateContainerConfigError to run as root who must not, and leaves nothing behind',
      { ref: 'sha256:1' },
      'container has runAsNonRoot and image will run as root',
    ],
    [
      'refuses with CreateContainerConfigError a user by name who must not be root, and leaves nothing behind',
      { ref: 'sha256:1', username: 'app' },
      'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root',
    ],
  ])('%s', (_rule, image, problem) => {
    const made = make({ container: { securityContext: { runAsNonRoot: true } }, around: { image } });
    expect(outcome(made)).toBe(`CreateContainerConfigError: ${problem} (pod: "web_default(u-1)", container: main)`);
    expect(made.log).toEqual([]);
  });

  it('makes no container whose variables cannot be had, which is a CreateContainerConfigError', () => {
    const ref = { resource: 'limits.cpu', containerName: 'ghost' };
    const made = make({ container: { env: [{ name: 'X', valueFrom: { resourceFieldRef: ref } }] } });
    expect(outcome(made)).toBe('CreateContainerConfigError: container ghost not found');
    expect(made.requests).toEqual([]);
  });

  it('tells of the runtime that cannot', () => {
    const made = make({ cri: { createContainer: () => throwError(() => new Error('no space')) } });
    expect(outcome(made)).toBe('CreateContainerError: no space');
  });

  it(
    'cancels the call when nobody listens any more',
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const call$ = cold<never>('-----#');
      const { id$ } = make({ cri: { createContainer: () => call$ } });
      expectObservable(id$, '                ^--!').toBe('----');
      expectSubscriptions(call$.subscriptions).toBe('^--!');
    }),
  );

  it(
    'waits for what the sandbox is made with',
    marbles(({ expectObservable }) => {
      expectObservable(make({ around: { sandbox$: NEVER } }).id$, '^--!').toBe('----');
    }),
  );
});
