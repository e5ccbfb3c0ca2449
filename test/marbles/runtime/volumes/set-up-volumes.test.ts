import { asyncScheduler, of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { FailedMount } from '../../../../src/model/pod-memory.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import type { Volume } from '../../../../src/model/volumes/volume-dir.ts';
import { refreshVolumes, setUpVolumes } from '../../../../src/runtime/volumes/set-up-volumes.ts';
import { VolumeError } from '../../../../src/runtime/volumes/volume-error.ts';
import type { Files, PathType } from '../../../../src/streams/ports/files.ts';
import type { Mounts } from '../../../../src/streams/ports/mounts.ts';
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

function run(
  work: (ground: ReturnType<typeof context>) => Observable<unknown>,
  { files = {}, mounts = {} }: { readonly files?: Partial<Files>; readonly mounts?: Partial<Mounts> } = {},
): Outcome {
  const log: string[] = [];
  let error: unknown;
  let isComplete = false;
  const ground = context({
    files: fakeFiles(log, files),
    mounts: fakeMounts(log, mounts),
    volumeFiles: fakeVolumeFiles(log),
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
    [500, 1_000],
    [64_000, 122_000],
    [122_000, 122_000],
  ])('waits twice as long after each failure: after %d ms %d ms', (delay, next) => {
    marbles(() => {
      const failing = withVolumes({ name: 'h', hostPath: { path: '/h', type: 'Socket' } });
      const before = new Map([['h', { since: 0, delay, until: asyncScheduler.now(), error: '' }]]);
      const { error } = run((ground) => setUpVolumes(failing, before, ground));
      expect((error as VolumeError).failures.get('h')).toMatchObject({ delay: next, until: next });
    })();
  });

  it('tries at once when the clock was set back to before the failure', () => {
    const until = asyncScheduler.now() + 10_000;
    const before = new Map([['h', { since: 0, delay: 500, until, error: 'long ago' }]]);
    const failing = withVolumes({ name: 'h', hostPath: { path: '/h', type: 'Socket' } });
    const { error } = run((ground) => setUpVolumes(failing, before, ground));
    expect((error as VolumeError).news).toHaveLength(1);
  });

  it(
    'tells all that are not ready together each time that another 2 min 3 s have gone by, at the try after that',
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

  it('leaves out volumes that no container uses, whatever is wrong with them', () => {
    const unused = pod({ spec: { volumes: [{ name: 'h', hostPath: { path: '/h', type: 'Socket' } }] } });
    expect(setUp(unused)).toEqual({ log: [], error: undefined, isComplete: true });
  });

  it('completes where the pod has no volumes, and asks nothing of the node', () => {
    expect(setUp(pod())).toEqual({ log: [], error: undefined, isComplete: true });
  });

  describe('hostPath', () => {
    const withHostPath = (type: string): Pod => withVolumes({ name: 'v', hostPath: { path: '/srv/v', type } });

    it.each<[string, PathType, string]>([
      ['', 'missing', ''],
      ['Directory', 'directory', ''],
      ['File', 'file', ''],
      ['Socket', 'socket', ''],
      ['CharDevice', 'charDevice', ''],
      ['BlockDevice', 'blockDevice', ''],
      ['DirectoryOrCreate', 'directory', ''],
      ['DirectoryOrCreate', 'missing', 'makeDir /srv/v'],
      ['FileOrCreate', 'file', ''],
      ['FileOrCreate', 'missing', 'writeFile /srv/v'],
    ])('is content with type "%s" where there is: %s', (type, found, made) => {
      const { log, error } = setUp(withHostPath(type), { files: { typeOf: () => of(found) } });
      expect(error).toBeUndefined();
      expect(log.find((call) => /^(makeDir|writeFile) \/srv/.test(call)) ?? '').toBe(made);
    });

    it.each<[string, PathType, string]>([
      ['Directory', 'missing', 'directory'],
      ['Directory', 'file', 'directory'],
      ['File', 'directory', 'file'],
      ['Socket', 'file', 'socket file'],
      ['CharDevice', 'blockDevice', 'character device'],
      ['BlockDevice', 'charDevice', 'block device'],
      ['DirectoryOrCreate', 'file', 'directory'],
      ['FileOrCreate', 'directory', 'file'],
    ])('refuses type "%s" where there is: %s', (type, found, noun) => {
      const { error } = setUp(withHostPath(type), { files: { typeOf: () => of(found) } });
      expect((error as VolumeError).news).toEqual([
        `MountVolume.SetUp failed for volume "v" : hostPath type check failed: /srv/v is not a ${noun}`,
      ]);
    });

    it('does not make the folder of a file that is to be made', () => {
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

    it('is made, given its mode and marked in this order', () => {
      expect(changes(setUp(withVolumes({ name: 'e', emptyDir: {} })))).toEqual([
        `makeDir ${EMPTY_DIRS}/e`,
        `setMode ${EMPTY_DIRS}/e`,
        `makeDir ${MARKERS}`,
        `makeDir ${MARKERS}/e`,
        `writeFile ${MARKERS}/e/ready`,
      ]);
    });

    it.each<[string, Volume, Partial<Mounts>]>([
      ['on the disk', { name: 'e', emptyDir: {} }, {}],
      ['in memory', { name: 'e', emptyDir: { medium: 'Memory' } }, mountedAs('tmpfs')],
    ])('%s is not touched when it is ready', (_where, volume, mounts) => {
      expect(changes(setUp(withVolumes(volume), { files: made, mounts }))).toEqual([]);
    });

    it('in memory is mounted anew after the machine was started anew', () => {
      const again = setUp(withVolumes({ name: 'e', emptyDir: { medium: 'Memory' } }), { files: made });
      expect(changes(again)).toContain(`mountMemory ${EMPTY_DIRS}/e`);
    });

    it('in memory is not mounted twice when the agent was killed before it was marked', () => {
      const again = setUp(withVolumes({ name: 'e', emptyDir: { medium: 'Memory' } }), { mounts: mountedAs('tmpfs') });
      expect(changes(again)).toEqual([`makeDir ${MARKERS}`, `makeDir ${MARKERS}/e`, `writeFile ${MARKERS}/e/ready`]);
    });

    it('is given to the group of the pod before it is marked', () => {
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

    it('in huge pages is of the size that the pod asks for', () => {
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

    it('of a medium that nobody knows is refused', () => {
      const { error } = setUp(withVolumes({ name: 'e', emptyDir: { medium: 'Gold' } }));
      expect((error as VolumeError).news).toEqual([
        'MountVolume.SetUp failed for volume "e" : unknown storage medium "Gold"',
      ]);
    });
  });

  describe('nfs', () => {
    const DIR = '/root/pods/u-1/volumes/kubernetes.io~nfs/n';
    const nfs: Volume = { name: 'n', nfs: { server: 'fd00::1', path: '/export', readOnly: true } };

    it('is mounted from its server', () => {
      const requests: unknown[] = [];
      const mount: Mounts['mount'] = (request) => {
        requests.push(request);
        return of(undefined);
      };
      expect(setUp(withVolumes(nfs), { mounts: { mount } }).log).toContain(`makeDir ${DIR}`);
      expect(requests).toEqual([{ source: '[fd00::1]:/export', target: DIR, type: 'nfs', options: ['ro'] }]);
    });

    it('is not mounted again', () => {
      const { log } = setUp(withVolumes(nfs), { mounts: { below: () => of([{ target: DIR, type: 'nfs4' }]) } });
      expect(log.filter((call) => call.startsWith('mount'))).toEqual([]);
    });
  });

  it('makes the directories that other mounts need in a volume of ours before it writes there', () => {
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
  it('brings the files of ours up to date and touches no other volume', () => {
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
