import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodSpec, PodUid } from '../../../../src/model/pod.ts';
import { NO_OBJECTS } from '../../../../src/model/objects/object-set.ts';
import { volumePayload } from '../../../../src/model/volumes/volume-payload.ts';
import { subPathOf } from '../../../../src/model/volumes/expand-sub-path.ts';
import { goQuote } from '../../../../src/model/volumes/go-quote.ts';
import { hugePageSize } from '../../../../src/model/volumes/huge-page-size.ts';
import { memorySize } from '../../../../src/model/volumes/memory-size.ts';
import { nestedDirs } from '../../../../src/model/volumes/nested-dirs.ts';
import { usedVolumes } from '../../../../src/model/volumes/used-volumes.ts';
import { isReadOnly, volumeDir, type Volume } from '../../../../src/model/volumes/volume-dir.ts';

const PATHS = { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' };
const MI = 1024 ** 2;

const withMemory = (...limits: readonly (string | undefined)[]): PodSpec => ({
  containers: limits.map((memory, index) => ({
    name: `c${index}`,
    ...(memory === undefined ? {} : { resources: { limits: { memory } } }),
  })),
});

describe('volumeDir', () => {
  it.each<{ rule: string; volume: Volume; at: string | undefined }>([
    {
      rule: 'an emptyDir stands below kubernetes.io~empty-dir',
      volume: { name: 'v', emptyDir: {} },
      at: '/root/pods/u/volumes/kubernetes.io~empty-dir/v',
    },
    {
      rule: 'a downwardAPI volume stands below kubernetes.io~downward-api',
      volume: { name: 'v', downwardAPI: {} },
      at: '/root/pods/u/volumes/kubernetes.io~downward-api/v',
    },
    {
      rule: 'a config map stands below kubernetes.io~configmap',
      volume: { name: 'v', configMap: {} },
      at: '/root/pods/u/volumes/kubernetes.io~configmap/v',
    },
    {
      rule: 'a secret stands below kubernetes.io~secret',
      volume: { name: 'v', secret: {} },
      at: '/root/pods/u/volumes/kubernetes.io~secret/v',
    },
    {
      rule: 'a projected volume stands below kubernetes.io~projected',
      volume: { name: 'v', projected: {} },
      at: '/root/pods/u/volumes/kubernetes.io~projected/v',
    },
    {
      rule: 'nfs is mounted below kubernetes.io~nfs',
      volume: { name: 'v', nfs: { server: 's', path: '/p' } },
      at: '/root/pods/u/volumes/kubernetes.io~nfs/v',
    },
    {
      rule: 'a hostPath has no folder but its own path',
      volume: { name: 'v', hostPath: { path: '/srv' } },
      at: '/srv',
    },
    {
      rule: 'an image has no folder: only the runtime has it',
      volume: { name: 'v', image: { reference: 'x' } },
      at: undefined,
    },
    {
      rule: 'a claim stands outside of all pods, by its namespace and name',
      volume: { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
      at: '/root/volumes/default/data',
    },
  ])('$rule', ({ volume, at }) => {
    expect(volumeDir(PATHS, { uid: 'u' as PodUid, namespace: 'default' }, volume)).toBe(at);
  });
});

describe('usedVolumes', () => {
  it('a volume that no container mounts or reads variables from is not made', () => {
    const spec: PodSpec = {
      volumes: ['a', 'b', 'c', 'd'].map((name) => ({ name, emptyDir: {} })),
      initContainers: [{ name: 'i', volumeMounts: [{ name: 'b', mountPath: '/b' }] }],
      containers: [
        {
          name: 'c',
          volumeMounts: [{ name: 'a', mountPath: '/a' }],
          env: [{ name: 'X', valueFrom: { fileKeyRef: { volumeName: 'd', path: 'f', key: 'X' } } }],
        },
      ],
    };
    expect(usedVolumes(spec).map(({ name }) => name)).toEqual(['a', 'b', 'd']);
  });
});

describe('isReadOnly', () => {
  it.each<{ rule: string; volumes: readonly Volume[]; expected: boolean }>([
    {
      rule: 'what holds data of the pod or of the node may be written to',
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'v', hostPath: { path: '/srv' } },
        { name: 'v', nfs: { server: 's', path: '/p' } },
        { name: 'v', persistentVolumeClaim: { claimName: 'c' } },
      ],
      expected: false,
    },
    {
      rule: 'nfs and claims are read-only where the volume says so',
      volumes: [
        { name: 'v', nfs: { server: 's', path: '/p', readOnly: true } },
        { name: 'v', persistentVolumeClaim: { claimName: 'c', readOnly: true } },
      ],
      expected: true,
    },
    {
      rule: 'files of the agent are always read-only',
      volumes: [
        { name: 'v', downwardAPI: {} },
        { name: 'v', projected: {} },
        { name: 'v', configMap: {} },
        { name: 'v', secret: {} },
      ],
      expected: true,
    },
    { rule: 'images are always read-only', volumes: [{ name: 'v', image: { reference: 'x' } }], expected: true },
  ])('$rule', ({ volumes, expected }) => {
    expect(volumes.map(isReadOnly)).toEqual(volumes.map(() => expected));
  });
});

describe('memorySize', () => {
  const NODE = 1024 * MI;
  it.each<[string, PodSpec, string | undefined, number]>([
    [
      'memory of a volume is what the node has for pods where nothing limits it',
      withMemory(undefined),
      undefined,
      NODE,
    ],
    ['memory of a volume is the sum of the limits of all containers', withMemory('64Mi', '32Mi'), undefined, 96 * MI],
    [
      'memory of a volume is what the node has where one container has no limit',
      withMemory('64Mi', undefined),
      undefined,
      NODE,
    ],
    ['a sizeLimit below the limit of the pod counts', withMemory('64Mi'), '8Mi', 8 * MI],
    ['the limit of the pod counts below a sizeLimit', withMemory('64Mi'), '1Gi', 64 * MI],
    ['what the node has counts below all others', withMemory('4Gi'), '8Gi', NODE],
    ['a sizeLimit of 0 is none', withMemory('64Mi'), '0', 64 * MI],
    [
      'memory of a volume is the limit that the pod as a whole has',
      { ...withMemory(undefined), resources: { limits: { memory: '16Mi' } } },
      undefined,
      16 * MI,
    ],
  ])('%s', (_rule, spec, sizeLimit, expected) => {
    const emptyDir = { medium: 'Memory', ...(sizeLimit === undefined ? {} : { sizeLimit }) };
    expect(memorySize(spec, { name: 'v', emptyDir }, NODE)).toBe(expected);
  });
});

describe('hugePageSize', () => {
  const asking = (...names: readonly string[]): PodSpec => ({
    containers: [{ name: 'c', resources: { limits: Object.fromEntries(names.map((name) => [name, '1Gi'])) } }],
  });
  it.each<[string, PodSpec, string, string]>([
    ['HugePages means the one size that the pod asks for', asking('hugepages-2Mi'), 'HugePages', '2Mi'],
    [
      'HugePages-<size> means one of the sizes that the pod asks for',
      asking('hugepages-2Mi', 'hugepages-1Gi'),
      'HugePages-1Gi',
      '1Gi',
    ],
    ['a size is the same however it is written', asking('hugepages-2048Ki'), 'HugePages-2Mi', '2Mi'],
    [
      'HugePages fails where the pod asks for several sizes',
      asking('hugepages-2Mi', 'hugepages-1Gi'),
      'HugePages',
      'the pod asks for hugepages of more than one size',
    ],
    ['HugePages fails where the pod asks for none', asking('memory'), 'HugePages', 'the pod asks for no hugepages'],
    [
      'HugePages-<size> fails where the pod asks for other sizes only',
      asking('hugepages-2Mi'),
      'HugePages-1Gi',
      'the pod asks for no hugepages-1Gi',
    ],
    [
      'HugePages-<size> fails where that is no size',
      asking('hugepages-2Mi'),
      'HugePages-big',
      'the medium "HugePages-big" names no page size',
    ],
  ])('%s', (_rule, spec, medium, expected) => {
    const found = hugePageSize(spec, medium);
    expect(found.kind === 'size' ? found.size : found.message).toBe(expected);
  });
});

describe('goQuote', () => {
  it.each([
    ['grün', '"grün"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['c\\d', '"c\\\\d"'],
    ['a\nb\tc\r', '"a\\nb\\tc\\r"'],
    ['\u0007\u0000\u007f', '"\\a\\x00\\x7f"'],
    ['\u00a0\u200b', '"\\u00a0\\u200b"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['日本😀', '"日本😀"'],
  ])('of %j is %s', (text, expected) => {
    expect(goQuote(text)).toBe(expected);
  });

  it('keeps every text on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(goQuote(text)).not.toMatch(/[\r\n\u2028\u2029]/u);
      }),
    );
  });
});

describe('volumePayload', () => {
  const pod = {
    metadata: {
      name: 'web-n1',
      namespace: 'default',
      uid: 'u-1' as PodUid,
      labels: { tier: 'edge', app: 'zoo' },
      annotations: { quote: 'say "hi"', lines: 'a\nb' },
    },
    spec: { containers: [{ name: 'main', resources: { limits: { memory: '64Mi' } } }] },
  };
  const field = (path: string, fieldPath: string) => ({ path, fieldRef: { fieldPath } });
  const texts = (volume: Volume): unknown => {
    const payload = volumePayload(pod, volume, { cpu: '4', memory: '8Gi' }, NO_OBJECTS);
    return payload.kind === 'problem'
      ? payload.message
      : Object.fromEntries(
          [...payload.files].map(([path, { content, mode }]) => [path, `${mode.toString(8)} ${String(content)}`]),
        );
  };

  it('labels and annotations are written with one quoted line per key, in the order of the keys', () => {
    expect(
      texts({
        name: 'd',
        downwardAPI: {
          items: [
            field('labels', 'metadata.labels'),
            field('ann', 'metadata.annotations'),
            field('one', "metadata.labels['tier']"),
            field('none', "metadata.annotations['nobody']"),
            field('deep/uid', 'metadata.uid'),
          ],
        },
      }),
    ).toEqual({
      labels: '644 app="zoo"\ntier="edge"',
      ann: '644 lines="a\\nb"\nquote="say \\"hi\\""',
      one: '644 edge',
      none: '644 ',
      'deep/uid': '644 u-1',
    });
  });

  it('resources are counted in divisors, and a limit that is not set is what the node has', () => {
    const resource = (path: string, name: string, divisor: string) => ({
      path,
      resourceFieldRef: { containerName: 'main', resource: name, divisor },
    });
    expect(
      texts({
        name: 'd',
        downwardAPI: {
          items: [
            resource('m', 'limits.memory', '1Mi'),
            resource('c', 'limits.cpu', '1'),
            resource('r', 'requests.cpu', '0'),
          ],
        },
      }),
    ).toEqual({ m: '644 64', c: '644 4', r: '644 0' });
  });

  it('the mode of a file goes before the defaultMode of its volume', () => {
    const items = [{ ...field('a', 'metadata.name'), mode: 0o400 }, field('b', 'metadata.name')];
    expect(texts({ name: 'd', downwardAPI: { items, defaultMode: 0o440 } })).toEqual({
      a: '400 web-n1',
      b: '440 web-n1',
    });
  });

  it('of two sources of a projected volume that bring one path the later one wins', () => {
    const sources = [
      { downwardAPI: { items: [field('a/name', 'metadata.name'), field('x', 'metadata.name')] } },
      { downwardAPI: { items: [{ ...field('a//name', 'metadata.namespace'), mode: 0o400 }] } },
    ];
    expect(texts({ name: 'd', projected: { sources, defaultMode: 0o600 } })).toEqual({
      'a/name': '400 default',
      x: '600 web-n1',
    });
  });

  it('resources of a container that is not there fail the volume', () => {
    const items = [{ path: 'c', resourceFieldRef: { containerName: 'nobody', resource: 'limits.cpu' } }];
    expect(texts({ name: 'd', downwardAPI: { items } })).toBe('cannot find container "nobody" in pod');
  });
});

describe('nestedDirs', () => {
  const mounting = (...mounts: readonly (readonly [name: string, mountPath: string, subPath?: string])[]): PodSpec => ({
    containers: [
      { name: 'c', volumeMounts: mounts.map(([name, mountPath, subPath = '']) => ({ name, mountPath, subPath })) },
    ],
  });
  it.each<[string, PodSpec, readonly string[]]>([
    [
      'a volume that holds another mount gets the folder for it',
      mounting(['v', '/etc/app'], ['e', '/etc/app/tls/']),
      ['tls'],
    ],
    [
      'two ways of writing a path make no difference to that',
      mounting(['v', '/etc/../srv'], ['e', '/srv/./a/b']),
      ['a/b'],
    ],
    ['a path that only begins alike is not inside', mounting(['v', '/etc/app'], ['e', '/etc/apple']), []],
    [
      'a mount inside of a part of a volume makes nothing in the volume',
      mounting(['v', '/etc/app', 'part'], ['e', '/etc/app/tls']),
      [],
    ],
    ['a folder that two mounts need is made once', mounting(['v', '/a'], ['v', '/a/b'], ['e', '/a/b']), ['b']],
  ])('%s', (_rule, spec, expected) => {
    expect(nestedDirs(spec, 'v')).toEqual(expected);
  });
});

describe('subPathOf', () => {
  const anyPath = fc.string({ unit: fc.constantFrom('.', '/', 'a', '$', '(', ')', 'A') });

  it('never leads up or to the root, whatever is written and whatever the variables hold', () => {
    fc.assert(
      fc.property(anyPath, anyPath, (subPathExpr, value) => {
        const part = subPathOf({ name: 'v', mountPath: '/v', subPathExpr }, new Map([['A', value]]));
        if (part.kind === 'wrong') return;
        expect(part.path.startsWith('/')).toBe(false);
        expect(part.path.split('/')).not.toContain('..');
      }),
    );
  });

  it('takes subPath as it stands', () => {
    const mount = { name: 'v', mountPath: '/v', subPath: '$(A)/b' };
    expect(subPathOf(mount, new Map([['A', 'x']]))).toEqual({ kind: 'path', path: '$(A)/b' });
  });
});
