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
  it.each<[Volume, string | undefined]>([
    [{ name: 'v', emptyDir: {} }, '/root/pods/u/volumes/kubernetes.io~empty-dir/v'],
    [{ name: 'v', downwardAPI: {} }, '/root/pods/u/volumes/kubernetes.io~downward-api/v'],
    [{ name: 'v', projected: {} }, '/root/pods/u/volumes/kubernetes.io~projected/v'],
    [{ name: 'v', nfs: { server: 's', path: '/p' } }, '/root/pods/u/volumes/kubernetes.io~nfs/v'],
    [{ name: 'v', hostPath: { path: '/srv' } }, '/srv'],
    [{ name: 'v', image: { reference: 'x' } }, undefined],
  ])('of %j is %s', (volume, path) => {
    expect(volumeDir(PATHS, { uid: 'u' as PodUid, namespace: 'default' }, volume)).toBe(path);
  });
});

describe('usedVolumes', () => {
  it('are those that a container mounts or reads variables from, init containers too', () => {
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
  it.each<[Volume, boolean]>([
    [{ name: 'v', emptyDir: {} }, false],
    [{ name: 'v', hostPath: { path: '/srv' } }, false],
    [{ name: 'v', nfs: { server: 's', path: '/p' } }, false],
    [{ name: 'v', nfs: { server: 's', path: '/p', readOnly: true } }, true],
    [{ name: 'v', downwardAPI: {} }, true],
    [{ name: 'v', projected: {} }, true],
    [{ name: 'v', image: { reference: 'x' } }, true],
  ])('of %j is %s', (volume, expected) => {
    expect(isReadOnly(volume)).toBe(expected);
  });
});

describe('memorySize', () => {
  const NODE = 1024 * MI;
  it.each<[string, PodSpec, string | undefined, number]>([
    ['the node, where nothing limits it', withMemory(undefined), undefined, NODE],
    ['the limit of the pod', withMemory('64Mi', '32Mi'), undefined, 96 * MI],
    ['the node, where one container has no limit', withMemory('64Mi', undefined), undefined, NODE],
    ['the limit of the volume', withMemory('64Mi'), '8Mi', 8 * MI],
    ['the limit of the pod below that of the volume', withMemory('64Mi'), '1Gi', 64 * MI],
    ['the node below all others', withMemory('4Gi'), '8Gi', NODE],
    ['the limit of the pod where that of the volume is 0', withMemory('64Mi'), '0', 64 * MI],
    [
      'a limit given to the pod as a whole',
      { ...withMemory(undefined), resources: { limits: { memory: '16Mi' } } },
      undefined,
      16 * MI,
    ],
  ])('is %s', (_what, spec, sizeLimit, expected) => {
    const emptyDir = { medium: 'Memory', ...(sizeLimit === undefined ? {} : { sizeLimit }) };
    expect(memorySize(spec, { name: 'v', emptyDir }, NODE)).toBe(expected);
  });
});

describe('hugePageSize', () => {
  const asking = (...names: readonly string[]): PodSpec => ({
    containers: [{ name: 'c', resources: { limits: Object.fromEntries(names.map((name) => [name, '1Gi'])) } }],
  });
  it.each<[PodSpec, string, string]>([
    [asking('hugepages-2Mi'), 'HugePages', '2Mi'],
    [asking('hugepages-2Mi', 'hugepages-1Gi'), 'HugePages-1Gi', '1Gi'],
    [asking('hugepages-2048Ki'), 'HugePages-2Mi', '2Mi'],
    [asking('hugepages-2Mi', 'hugepages-1Gi'), 'HugePages', 'the pod asks for hugepages of more than one size'],
    [asking('memory'), 'HugePages', 'the pod asks for no hugepages'],
    [asking('hugepages-2Mi'), 'HugePages-1Gi', 'the pod asks for no hugepages-1Gi'],
    [asking('hugepages-2Mi'), 'HugePages-big', 'the medium "HugePages-big" names no page size'],
  ])('of %j in %s is %s', (spec, medium, expected) => {
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

  it('writes fields of the pod, maps one line per key in their order', () => {
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

  it('counts resources in divisors, and knows what the node has where a limit is not set', () => {
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

  it('takes the mode of the file before that of the volume', () => {
    const items = [{ ...field('a', 'metadata.name'), mode: 0o400 }, field('b', 'metadata.name')];
    expect(texts({ name: 'd', downwardAPI: { items, defaultMode: 0o440 } })).toEqual({
      a: '400 web-n1',
      b: '440 web-n1',
    });
  });

  it('puts the sources of a projected volume into one, the later over the earlier', () => {
    const sources = [
      { downwardAPI: { items: [field('a/name', 'metadata.name'), field('x', 'metadata.name')] } },
      { downwardAPI: { items: [{ ...field('a//name', 'metadata.namespace'), mode: 0o400 }] } },
    ];
    expect(texts({ name: 'd', projected: { sources, defaultMode: 0o600 } })).toEqual({
      'a/name': '400 default',
      x: '600 web-n1',
    });
  });

  it('says that there is no such container', () => {
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
    ['a mount inside of it', mounting(['v', '/etc/app'], ['e', '/etc/app/tls/']), ['tls']],
    ['a mount that is written in another way', mounting(['v', '/etc/../srv'], ['e', '/srv/./a/b']), ['a/b']],
    ['no mount that only looks alike', mounting(['v', '/etc/app'], ['e', '/etc/apple']), []],
    ['no mount inside of a part of it', mounting(['v', '/etc/app', 'part'], ['e', '/etc/app/tls']), []],
    ['a mount of its own inside of it, once', mounting(['v', '/a'], ['v', '/a/b'], ['e', '/a/b']), ['b']],
  ])('has %s', (_what, spec, expected) => {
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
