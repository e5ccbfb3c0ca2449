import { asyncScheduler, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { FailedMount } from '../../../../src/model/pod-memory.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import type { Volume } from '../../../../src/model/volumes/volume-dir.ts';
import { refreshVolumes, setUpVolumes } from '../../../../src/runtime/volumes/set-up-volumes.ts';
import { VolumeError } from '../../../../src/runtime/volumes/volume-error.ts';
import type { Files, PathType } from '../../../../src/streams/ports/files.ts';
import type { Mounts } from '../../../../src/streams/ports/mounts.ts';
import type { VolumeFiles } from '../../../../src/streams/ports/volume-files.ts';
import { context, fakeFiles, fakeMounts, fakeVolumeFiles, pod, podWith } from '../../fakes.ts';
import { marbles } from '../../harness.ts';

const EMPTY_DIRS = '/root/pods/u-1/volumes/kubernetes.io~empty-dir';
const MARKERS = '/root/pods/u-1/plugins/kubernetes.io~empty-dir';
const NONE = new Map<string, FailedMount>();

const withVolumes = (...volumes: readonly Volume[]): Pod => podWith(volumes);

interface Outcome {
  readonly log: readonly string[];
  readonly error: unknown;
  readonly isComplete: boolean;
}

interface World {
  readonly files?: Partial<Files>;
  readonly mounts?: Partial<Mounts>;
  readonly volumeFiles?: Partial<VolumeFiles>;
}

function run(
  work: (ground: ReturnType<typeof context>) => Observable<unknown>,
  { files = {}, mounts = {}, volumeFiles = {} }: World = {},
): Outcome {
  const log: string[] = [];
  let error: unknown;
  let isComplete = false;
  const ground = context({
    files: fakeFiles(log, files),
    mounts: fakeMounts(log, mounts),
    volumeFiles: fakeVolumeFiles(log, volumeFiles),
  });
  work(ground).subscribe({
    error: (failure: unknown) => {
      error = failure;
    },
    complete: () => {
      isComplete = true;
    },
  });
  return { log, error, isComplete };
}

const setUp = (of$: Pod, world?: Parameters<typeof run>[1]): Outcome =>
  run((ground) => setUpVolumes(of$, NONE, ground), world);

describe('setUpVolumes', () => {
  it(
    'tries every volume, and tells which are not ready (the diagram of its doc comment)',
    marbles(({ cold, expectObservable }) => {
      const typeOf: Files['typeOf'] = (path) =>
        path === '/a' ? cold('--(d|)', { d: 'directory' as const }) : cold('----(f|)', { f: 'file' as const });
      const hostPath = (name: string): Volume => ({ name, hostPath: { path: `/${name}`, type: 'Directory' } });
      const before: FailedMount = { since: -100, delay: 500, until: 400, error: 'not again' };
      const ground = context({ files: fakeFiles([], { typeOf }) });
      const failed = 'MountVolume.SetUp failed for volume "b" : hostPath type check failed: /b is not a directory';
      expectObservable(
        setUpVolumes(withVolumes(hostPath('a'), hostPath('b'), hostPath('c')), new Map([['c', before]]), ground),
      ).toBe(
        '----#',
        undefined,
        new VolumeError(
          [failed],
          new Map([
            ['c', before],
            ['b', { since: 4, delay: 500, until: 504, error: failed }],
          ]),
        ),
      );
    }),
  );

  it.each([
    { rule: 'a volume that is not ready is tried again after half a second', delay: undefined, next: 500 },
    { rule: 'the next wait is twice as long', delay: 500, next: 1_000 },
    { rule: 'no wait is longer than 2 min 2 s', delay: 64_000, next: 122_000 },
    { rule: 'the longest wait stays what it is', delay: 122_000, next: 122_000 },
  ])('$rule', ({ delay, next }) => {
    marbles(() => {
      const failing = withVolumes({ name: 'h', hostPath: { path: '/h', type: 'Socket' } });
      const before = new Map(
        delay === undefined ? [] : [['h', { since: 0, delay, until: asyncScheduler.now(), error: '' }]],
      );
      const { error } = run((ground) => setUpVolumes(failing, before, ground));
      expect((error as VolumeError).failures.get('h')).toMatchObject({ delay: next, until: next });
    })();
  });

  it('a volume that failed is not tried before its wait is over, and not told of again', () => {
    const before = new Map([['h', { since: 0, delay: 500, until: asyncScheduler.now() + 400, error: 'not yet' }]]);
    const failing = withVolumes({ name: 'h', hostPath: { path: '/h', type: 'Socket' } });
    const { log, error } = run((ground) => setUpVolumes(failing, before, ground));
    expect(log).toEqual([]);
    expect((error as VolumeError).news).toEqual([]);
  });

  it('a volume is tried at once when the clock was set back to before its failure', () => {
    const until = asyncScheduler.now() + 10_000;
    const before = new Map([['h', { since: 0, delay: 500, until, error: 'long ago' }]]);
    const failing = withVolumes({ name: 'h', hostPath: { path: '/h', type: 'Socket' } });
    const { error } = run((ground) => setUpVolumes(failing, before, ground));
    expect((error as VolumeError).news).toHaveLength(1);
  });

  it(
    'all volumes that are not ready are told together each time that another 2 min 3 s have gone by, at the try after that',
    marbles(() => {
      const sockets = ['b', 'a'].map((name): Volume => ({ name, hostPath: { path: `/${name}`, type: 'Socket' } }));
      /** What is told at a try at `now` seconds, where the one before was at `last` and the first at 0. */
      const toldAt = (last: number, now: number): readonly string[] => {
        const failure: FailedMount = { since: -now * 1_000, delay: (now - last) * 1_000, until: 0, error: '' };
        const before = new Map(sockets.map(({ name }) => [name, failure]));
        const { error } = run((ground) => setUpVolumes(withVolumes(...sockets), before, ground));
        return (error as VolumeError).news.filter((text) => !text.startsWith('MountVolume.SetUp'));
      };
      const all =
        'Unable to attach or mount volumes: unmounted volumes=[a b], unattached volumes=[], failed to process volumes=[]: context deadline exceeded';
      expect(toldAt(31, 63)).toEqual([]);
      expect(toldAt(63, 127)).toEqual([all]);
      expect(toldAt(127, 245)).toEqual([]);
      expect(toldAt(127, 249)).toEqual([all]);
    }),
  );

  it('a volume that no container uses is left out, whatever is wrong with it', () => {
    const unused = pod({ spec: { volumes: [{ name: 'h', hostPath: { path: '/h', type: 'Socket' } }] } });
    expect(setUp(unused)).toEqual({ log: [], error: undefined, isComplete: true });
  });

  it('completes where the pod has no volumes, and asks nothing of the node', () => {
    expect(setUp(pod())).toEqual({ log: [], error: undefined, isComplete: true });
  });

  describe('hostPath', () => {
    const withHostPath = (type: string): Pod => withVolumes({ name: 'v', hostPath: { path: '/srv/v', type } });

    it.each<{ rule: string; type: string; found: readonly PathType[] }>([
      {
        rule: 'a hostPath of no type is not looked at',
        type: '',
        found: ['missing', 'directory', 'file', 'socket', 'charDevice', 'blockDevice'],
      },
      { rule: 'Directory is content with a directory', type: 'Directory', found: ['directory'] },
      { rule: 'DirectoryOrCreate is content with a directory', type: 'DirectoryOrCreate', found: ['directory'] },
      { rule: 'File is content with a file', type: 'File', found: ['file'] },
      { rule: 'FileOrCreate is content with a file', type: 'FileOrCreate', found: ['file'] },
      { rule: 'Socket is content with a socket', type: 'Socket', found: ['socket'] },
      { rule: 'CharDevice is content with a character device', type: 'CharDevice', found: ['charDevice'] },
      { rule: 'BlockDevice is content with a block device', type: 'BlockDevice', found: ['blockDevice'] },
    ])('$rule', ({ type, found }) => {
      for (const what of found) {
        const { log, error } = setUp(withHostPath(type), { files: { typeOf: () => of(what) } });
        expect({ error, changes: log.filter((call) => !call.startsWith('typeOf')) }).toEqual({
          error: undefined,
          changes: [],
        });
      }
    });

    it.each([
      {
        rule: 'DirectoryOrCreate makes what is missing, with the mode 0755',
        type: 'DirectoryOrCreate',
        made: ['directory /srv/v 755'],
      },
      {
        rule: 'FileOrCreate makes an empty file where there is none, with the mode 0644',
        type: 'FileOrCreate',
        made: ['file /srv/v 644 ""'],
      },
    ])('$rule', ({ type, made }) => {
      const seen: string[] = [];
      const note = (text: string): Observable<undefined> => {
        seen.push(text);
        return of(undefined);
      };
      const files: Partial<Files> = {
        makeDir: (path, mode) => note(`directory ${path} ${mode.toString(8)}`),
        writeFile: (path, text, { mode }) => note(`file ${path} ${mode.toString(8)} ${JSON.stringify(text)}`),
      };
      expect(setUp(withHostPath(type), { files }).error).toBeUndefined();
      expect(seen).toEqual(made);
    });

    const all: readonly PathType[] = ['missing', 'directory', 'file', 'socket', 'charDevice', 'blockDevice'];
    it.each<{ rule: string; type: string; noun: string; but: readonly PathType[] }>([
      { rule: 'Directory refuses everything else', type: 'Directory', noun: 'directory', but: ['directory'] },
      {
        rule: 'DirectoryOrCreate refuses what is there and no directory',
        type: 'DirectoryOrCreate',
        noun: 'directory',
        but: ['directory', 'missing'],
      },
      { rule: 'File refuses everything else', type: 'File', noun: 'file', but: ['file'] },
      {
        rule: 'FileOrCreate refuses what is there and no file',
        type: 'FileOrCreate',
        noun: 'file',
        but: ['file', 'missing'],
      },
      { rule: 'Socket refuses everything else', type: 'Socket', noun: 'socket file', but: ['socket'] },
      { rule: 'CharDevice refuses everything else', type: 'CharDevice', noun: 'character device', but: ['charDevice'] },
      { rule: 'BlockDevice refuses everything else', type: 'BlockDevice', noun: 'block device', but: ['blockDevice'] },
    ])('$rule', ({ type, noun, but }) => {
      for (const found of all.filter((one) => !but.includes(one))) {
        const { error } = setUp(withHostPath(type), { files: { typeOf: () => of(found) } });
        expect((error as VolumeError).news).toEqual([
          `MountVolume.SetUp failed for volume "v" : hostPath type check failed: /srv/v is not a ${noun}`,
        ]);
      }
    });

    it('a hostPath is not given to the group of the pod', () => {
      const grouped = podWith([{ name: 'v', hostPath: { path: '/srv/v', type: 'Directory' } }], {
        securityContext: { fsGroup: 7 },
      });
      const { log } = setUp(grouped, { files: { typeOf: () => of('directory') } });
      expect(log).toEqual(['typeOf /srv/v']);
    });

    it('FileOrCreate does not make the folder of its file', () => {
      const missing = Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' });
      const { error } = setUp(withHostPath('FileOrCreate'), { files: { writeFile: () => throwError(() => missing) } });
      expect((error as VolumeError).news).toEqual([
        'MountVolume.SetUp failed for volume "v" : open /srv/v: no such file or directory',
      ]);
    });
  });

  describe('emptyDir', () => {
    /** A disk on which the volume `e` has been made by an earlier run of the agent. */
    const made: Partial<Files> = {
      typeOf: (path) =>
        of(path === `${MARKERS}/e/ready` ? 'file' : path === `${EMPTY_DIRS}/e` ? 'directory' : 'missing'),
    };
    const mountedAs = (type: string): Partial<Mounts> => ({ below: () => of([{ target: `${EMPTY_DIRS}/e`, type }]) });
    const changes = ({ log }: Outcome): readonly string[] => log.filter((call) => !/^(typeOf|below) /.test(call));

    it('an emptyDir has the mode 0777 whatever the umask, and that it is ready is told only after that', () => {
      const modes: string[] = [];
      const setMode: VolumeFiles['setMode'] = (path, mode) => {
        modes.push(`${path} ${mode.toString(8)}`);
        return of(undefined);
      };
      const volumeFiles = { setMode };
      expect(setUp(withVolumes({ name: 'e', emptyDir: {} }), { volumeFiles }).error).toBeUndefined();
      expect(modes).toEqual([`${EMPTY_DIRS}/e 777`]);
      expect(changes(setUp(withVolumes({ name: 'e', emptyDir: {} })))).toEqual([
        `makeDir ${EMPTY_DIRS}/e`,
        `setMode ${EMPTY_DIRS}/e`,
        `makeDir ${MARKERS}`,
        `makeDir ${MARKERS}/e`,
        `writeFile ${MARKERS}/e/ready`,
      ]);
    });

    it.each<[string, Volume, Partial<Mounts>]>([
      ['an emptyDir on the disk that is ready is not touched again', { name: 'e', emptyDir: {} }, {}],
      [
        'an emptyDir in memory that is ready is not touched again',
        { name: 'e', emptyDir: { medium: 'Memory' } },
        mountedAs('tmpfs'),
      ],
    ])('%s', (_rule, volume, mounts) => {
      expect(changes(setUp(withVolumes(volume), { files: made, mounts }))).toEqual([]);
    });

    it('an emptyDir in memory is mounted anew after the machine was started anew', () => {
      const again = setUp(withVolumes({ name: 'e', emptyDir: { medium: 'Memory' } }), { files: made });
      expect(changes(again)).toContain(`mountMemory ${EMPTY_DIRS}/e`);
    });

    it('an emptyDir in memory is not mounted twice when the agent was killed before it was ready', () => {
      const again = setUp(withVolumes({ name: 'e', emptyDir: { medium: 'Memory' } }), { mounts: mountedAs('tmpfs') });
      expect(changes(again)).toEqual([`makeDir ${MARKERS}`, `makeDir ${MARKERS}/e`, `writeFile ${MARKERS}/e/ready`]);
    });

    it('an emptyDir is given to the fsGroup of the pod before it is ready', () => {
      const grouped = podWith([{ name: 'e', emptyDir: {} }], { securityContext: { fsGroup: 7 } });
      expect(changes(setUp(grouped))).toEqual([
        `makeDir ${EMPTY_DIRS}/e`,
        `setMode ${EMPTY_DIRS}/e`,
        `giveToGroup ${EMPTY_DIRS}/e`,
        `makeDir ${MARKERS}`,
        `makeDir ${MARKERS}/e`,
        `writeFile ${MARKERS}/e/ready`,
      ]);
    });

    it('an emptyDir in huge pages is a hugetlbfs of the page size that the pod asks for', () => {
      const requests: unknown[] = [];
      const mount: Mounts['mount'] = (request) => {
        requests.push(request);
        return of(undefined);
      };
      const huge = podWith([{ name: 'e', emptyDir: { medium: 'HugePages' } }], {
        resources: { limits: { 'hugepages-2Mi': '4Mi' } },
      });
      expect(setUp(huge, { mounts: { mount } }).error).toBeUndefined();
      expect(requests).toEqual([
        { source: 'nodev', target: `${EMPTY_DIRS}/e`, type: 'hugetlbfs', options: ['pagesize=2Mi'] },
      ]);
    });

    it('an emptyDir in huge pages is as large as its sizeLimit, and no larger', () => {
      const options: unknown[] = [];
      const mount: Mounts['mount'] = (request) => {
        options.push(request.options);
        return of(undefined);
      };
      for (const sizeLimit of ['4Mi', '0']) {
        const huge = podWith([{ name: 'e', emptyDir: { medium: 'HugePages-2Mi', sizeLimit } }], {
          resources: { limits: { 'hugepages-2Mi': '8Mi' } },
        });
        expect(setUp(huge, { mounts: { mount } }).error).toBeUndefined();
      }
      expect(options).toEqual([['pagesize=2Mi', 'size=4194304'], ['pagesize=2Mi']]);
    });

    it('an emptyDir of an unknown medium is refused', () => {
      const { error } = setUp(withVolumes({ name: 'e', emptyDir: { medium: 'Gold' } }));
      expect((error as VolumeError).news).toEqual([
        'MountVolume.SetUp failed for volume "e" : unknown storage medium "Gold"',
      ]);
    });
  });

  describe('nfs', () => {
    const DIR = '/root/pods/u-1/volumes/kubernetes.io~nfs/n';
    const nfs: Volume = { name: 'n', nfs: { server: 'fd00::1', path: '/export', readOnly: true } };

    it('nfs is mounted from its server, an IPv6 address in brackets, read-only where the volume says so', () => {
      const requests: unknown[] = [];
      const mount: Mounts['mount'] = (request) => {
        requests.push(request);
        return of(undefined);
      };
      expect(setUp(withVolumes(nfs), { mounts: { mount } }).log).toContain(`makeDir ${DIR}`);
      expect(requests).toEqual([{ source: '[fd00::1]:/export', target: DIR, type: 'nfs', options: ['ro'] }]);
    });

    it('nfs that is mounted is not mounted again', () => {
      const { log } = setUp(withVolumes(nfs), { mounts: { below: () => of([{ target: DIR, type: 'nfs4' }]) } });
      expect(log.filter((call) => call.startsWith('mount'))).toEqual([]);
    });
  });

  it('folders that other mounts need in a volume of files are made before the files are written', () => {
    const nested = pod({
      spec: {
        containers: [
          {
            name: 'main',
            image: 'x',
            volumeMounts: [
              { name: 'd', mountPath: '/etc/app' },
              { name: 'e', mountPath: '/etc/app/tls' },
            ],
          },
        ],
        volumes: [{ name: 'd', downwardAPI: { items: [] } }],
      },
    });
    const dir = '/root/pods/u-1/volumes/kubernetes.io~downward-api/d';
    expect(setUp(nested).log.filter((call) => /tls|writePayload|mountMemory/.test(call))).toEqual([
      `mountMemory ${dir}`,
      `makeDir ${dir}/tls`,
      `writePayload ${dir}`,
    ]);
  });
});

describe('refreshVolumes', () => {
  it('the files of a running pod are brought up to date at each sync, and no other volume is touched', () => {
    const { log, isComplete } = run((ground) =>
      refreshVolumes(
        withVolumes(
          { name: 'd', downwardAPI: {} },
          { name: 'e', emptyDir: {} },
          { name: 'h', hostPath: { path: '/h', type: 'Socket' } },
        ),
        ground,
      ),
    );
    expect(isComplete).toBe(true);
    expect(log.filter((call) => call.startsWith('writePayload'))).toHaveLength(1);
    expect(log.filter((call) => /empty-dir\/e|\/h$/.test(call))).toEqual([]);
  });

  it('asks nothing of the node where there are none', () => {
    expect(run((ground) => refreshVolumes(withVolumes({ name: 'e', emptyDir: {} }), ground)).log).toEqual([]);
  });
});
