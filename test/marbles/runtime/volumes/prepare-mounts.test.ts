import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerConfig, StatusResponse } from '../../../../src/model/cri/api.ts';
import type { Container, PodSpec } from '../../../../src/model/pod.ts';
import { StartError } from '../../../../src/runtime/ensure-image.ts';
import { mountsOf } from '../../../../src/runtime/mounts.ts';
import { prepareMounts } from '../../../../src/runtime/volumes/prepare-mounts.ts';
import { SubPathError, type InnerBind, type Mounts } from '../../../../src/streams/ports/mounts.ts';
import { context, fakeCri, fakeMounts, pod, wanted } from '../../fakes.ts';

const VOLUMES: NonNullable<PodSpec['volumes']> = [
  { name: 'e', emptyDir: {} },
  { name: 'h', hostPath: { path: '/srv/h' } },
  { name: 'd', downwardAPI: {} },
  { name: 'i', image: { reference: 'files:1' } },
];

interface World {
  readonly env?: Readonly<Record<string, string>>;
  readonly status?: StatusResponse;
  readonly mounts?: Partial<Mounts>;
}

function run(volumeMounts: NonNullable<Container['volumeMounts']>, { env = {}, status = {}, mounts = {} }: World = {}) {
  const container = wanted('main', { volumeMounts, terminationMessagePath: '/dev/termination-log' });
  const of$ = pod({ spec: { volumes: VOLUMES, containers: [container] } });
  const log: string[] = [];
  const binds: InnerBind[] = [];
  const bindInside: Mounts['bindInside'] = (bind) => {
    binds.push(bind);
    return of(undefined);
  };
  const ground = context({
    cri: fakeCri(log, { status: () => of(status) }),
    mounts: fakeMounts([], { bindInside, ...mounts }),
  });
  const encoder = new TextEncoder();
  const config: ContainerConfig = {
    envs: Object.entries(env).map(([key, value]) => ({ key, value: encoder.encode(value) })),
    mounts: mountsOf(of$, container, '/log', ground),
  };
  const result: { config?: ContainerConfig; error?: unknown } = {};
  prepareMounts(of$, container, config, new Map([['i', 'sha256:files']]), ground).subscribe({
    next: (complete) => {
      result.config = complete;
    },
    error: (failure: unknown) => {
      result.error = failure;
    },
  });
  return { ...result, binds, log, mounts: result.config?.mounts ?? [] };
}

const refusal = (message: string): StartError => new StartError('CreateContainerConfigError', message);
const EMPTY_DIR = '/root/pods/u-1/volumes/kubernetes.io~empty-dir/e';

describe('prepareMounts', () => {
  it('mounts keep the order of the container, the hosts file and the file for its last words come after them', () => {
    const { mounts } = run([
      { name: 'e', mountPath: '/v/child' },
      { name: 'h', mountPath: '/v' },
      { name: 'e', mountPath: '/w', subPath: 'x' },
    ]);
    expect(mounts.map(({ containerPath, hostPath }) => `${containerPath ?? ''} ${hostPath ?? ''}`)).toEqual([
      `/v/child ${EMPTY_DIR}`,
      '/v /srv/h',
      '/w /root/pods/u-1/volume-subpaths/e/main/2',
      '/etc/hosts /root/pods/u-1/etc-hosts',
      '/dev/termination-log /log',
    ]);
  });

  it('a part of a volume is bound at its place under volume-subpaths, by the number of its mount', () => {
    const { binds } = run([
      { name: 'e', mountPath: '/v' },
      { name: 'h', mountPath: '/w', subPath: 'a/b' },
    ]);
    expect(binds).toEqual([{ volume: '/srv/h', subPath: 'a/b', target: '/root/pods/u-1/volume-subpaths/h/main/1' }]);
  });

  it('subPathExpr takes in the variables that the container gets', () => {
    const { binds } = run([{ name: 'e', mountPath: '/v', subPathExpr: 'of/$(WHO)/x' }], { env: { WHO: 'me' } });
    expect(binds).toMatchObject([{ volume: EMPTY_DIR, subPath: 'of/me/x' }]);
  });

  it('a subPathExpr that comes to nothing is the whole volume', () => {
    const { binds, mounts } = run([{ name: 'e', mountPath: '/v', subPathExpr: '$(NONE)' }], { env: { NONE: '' } });
    expect(binds).toEqual([]);
    expect(mounts[0]?.hostPath).toBe(EMPTY_DIR);
  });

  it.each<{ rule: string; subPathExpr: string; env?: Readonly<Record<string, string>>; message: string }>([
    {
      rule: 'a variable of subPathExpr that is not set keeps the container from being made',
      subPathExpr: '$(A)/$(B)',
      message: 'missing value for A, B',
    },
    {
      rule: 'a subPathExpr that leads up keeps the container from being made',
      subPathExpr: '$(UP)',
      env: { UP: '../../etc' },
      message: "unable to provision SubPath `../../etc`: must not contain '..'",
    },
    {
      rule: 'a subPathExpr that becomes absolute keeps the container from being made',
      subPathExpr: '$(ROOT)',
      env: { ROOT: '/etc' },
      message: 'error SubPath `/etc` must not be an absolute path',
    },
  ])('$rule', ({ subPathExpr, env = {}, message }) => {
    const { error, binds } = run([{ name: 'e', mountPath: '/v', subPathExpr }], { env });
    expect(error).toEqual(refusal(message));
    expect(binds).toEqual([]);
  });

  it.each([
    [
      'of a part that cannot be made nothing of the node is told',
      'make',
      'failed to create subPath directory for volumeMount "e" of container "main"',
    ],
    [
      'of a part that cannot be bound nothing of the node is told',
      'bind',
      'failed to prepare subPath for volumeMount "e" of container "main"',
    ],
  ] as const)('%s', (_rule, step, message) => {
    const bindInside: Mounts['bindInside'] = () => throwError(() => new SubPathError(step, 'leads to /etc/shadow'));
    expect(run([{ name: 'e', mountPath: '/v', subPath: 'x' }], { mounts: { bindInside } }).error).toEqual(
      refusal(message),
    );
  });

  it('an image volume goes to the runtime as an image with its part, and nothing is bound', () => {
    const { mounts, binds } = run([{ name: 'i', mountPath: '/v', subPath: 'dir' }]);
    expect(mounts[0]).toEqual({
      containerPath: '/v',
      readonly: true,
      propagation: 'PROPAGATION_PRIVATE',
      image: { image: 'sha256:files', annotations: {}, userSpecifiedImage: 'files:1' },
      imageSubPath: 'dir',
    });
    expect(binds).toEqual([]);
  });

  it('a volume of files of the agent is mounted read-only, whatever the container asks for', () => {
    expect(run([{ name: 'd', mountPath: '/v', readOnly: false }]).mounts[0]?.readonly).toBe(true);
  });

  describe('recursiveReadOnly', () => {
    const asks = (recursiveReadOnly: string) => [{ name: 'e', mountPath: '/v', readOnly: true, recursiveReadOnly }];
    const able: StatusResponse = {
      runtimeHandlers: [{ name: 'other' }, { features: { recursiveReadOnlyMounts: true } }],
    };

    it.each([
      ['Enabled is asked of a runtime that can', 'Enabled', able, true],
      ['IfPossible is asked of a runtime that can', 'IfPossible', able, true],
      ['IfPossible is let go where the runtime cannot', 'IfPossible', {}, undefined],
      ['Disabled is not asked for', 'Disabled', able, undefined],
    ])('%s', (_rule, mode, status, expected) => {
      expect(run(asks(mode), { status }).mounts[0]?.recursiveReadOnly).toBe(expected);
    });

    it('Enabled keeps the container from being made where the runtime cannot', () => {
      expect(run(asks('Enabled')).error).toEqual(
        refusal(
          'failed to resolve recursive read-only mode: volume "e" requested recursive read-only mode, but it is not supported by the runtime',
        ),
      );
    });

    it('the runtime is not asked what it can where nobody wants it', () => {
      expect(run([{ name: 'e', mountPath: '/v', readOnly: true }]).log).toEqual([]);
    });
  });
});
