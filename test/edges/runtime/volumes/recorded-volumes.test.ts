import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { catchError, EMPTY, concat, ignoreElements, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { nodeFiles } from '../../../../src/host/files/node-files.ts';
import { nodeMounts } from '../../../../src/host/mounts/node-mounts.ts';
import { nodeVolumeFiles } from '../../../../src/host/volumes/node-volume-files.ts';
import type { Pod } from '../../../../src/model/pod.ts';
import { mountsOf } from '../../../../src/runtime/mounts.ts';
import type { PerformContext } from '../../../../src/runtime/perform-context.ts';
import { preparePodFiles } from '../../../../src/runtime/pod-files.ts';
import { prepareMounts } from '../../../../src/runtime/volumes/prepare-mounts.ts';
import { unmountVolumes } from '../../../../src/runtime/volumes/tear-down-volumes.ts';
import { VolumeError } from '../../../../src/runtime/volumes/volume-error.ts';
import { decodeManifest } from '../../../../src/sources/manifest/decode-manifest.ts';
import { context } from '../../../marbles/fakes.ts';
import { canMount, mountGround, mountsIn } from '../../mount-ground.ts';

/** What the kubelet left below the folder of a pod (`test/corpus/cases/README.md`). */
interface Recorded {
  readonly files?: {
    readonly podDir?: Readonly<Record<string, string>>;
    readonly volumeFiles?: Readonly<Record<string, string>>;
  };
  readonly events?: readonly { readonly reason: string; readonly message: string }[];
}

const CASES = 'test/corpus/cases';
const FIXTURES = '/srv/gold/fix/hp';
const GROUPS = ['volumes', 'security/26-fsgroup-change-policy'];

const cases = GROUPS.flatMap((group) =>
  group.includes('/') ? [group] : readdirSync(join(CASES, group)).map((name) => `${group}/${name}`),
).filter((id) => !isNeverMade(read(id)));

function read(id: string): Recorded {
  return JSON.parse(readFileSync(join(CASES, id, 'expected.json'), 'utf8')) as Recorded;
}

/** Projected volumes, which the kubelet cannot make without an API server. */
function isNeverMade({ events = [] }: Recorded): boolean {
  return events.some(({ message }) => message.includes('kube client is not configured'));
}

interface Ground {
  readonly base: string;
  readonly pod: Pod;
  readonly dir: string;
  readonly context: PerformContext;
}

/** A node with the fixtures of the recording, but for devices and sockets, and one pod of it. */
function ground(id: string): Ground {
  const base = mountGround();
  const fixtures = join(base, 'hp');
  mkdirSync(join(fixtures, 'dir'), { recursive: true });
  writeFileSync(join(fixtures, 'file'), 'content\n');
  symlinkSync('dir', join(fixtures, 'link'));
  const text = readFileSync(join(CASES, id, 'manifest.yaml'), 'utf8')
    .replaceAll(FIXTURES, fixtures)
    .replaceAll('/srv/gold/fix', base)
    // Everybody has this device; the one of the recording has to be made.
    .replaceAll(`${fixtures}/chr`, '/dev/null');
  const { pods, problems } = decodeManifest(text, { source: 'file', origin: '/m.yaml', nodeName: 'n1' });
  expect(problems).toEqual([]);
  const [pod] = pods;
  if (!pod) throw new Error('no pod');
  const paths = { rootDir: join(base, 'root'), podLogsDir: join(base, 'logs'), containerLinksDir: join(base, 'links') };
  const made = context({
    files: nodeFiles(),
    mounts: nodeMounts(),
    volumeFiles: nodeVolumeFiles(),
    paths,
  });
  return { base, pod, dir: join(paths.rootDir, 'pods', pod.metadata.uid), context: made };
}

/** All that is done with volumes before a container starts. What the kubelet refuses is refused, and leaves what it leaves. */
async function prepare({ pod, context: node }: Ground): Promise<readonly string[]> {
  const refusals: string[] = [];
  const containers = pod.spec.containers.map((container) => {
    const name = { key: 'WHO', value: new TextEncoder().encode(pod.metadata.name) };
    const config = { envs: [name], mounts: mountsOf(pod, container, '/log', node) };
    return prepareMounts(pod, container, config, new Map(), node).pipe(ignoreElements());
  });
  await lastValueFrom(
    concat(preparePodFiles(pod, node), ...containers).pipe(
      catchError((error: unknown) => {
        refusals.push(...(error instanceof VolumeError ? error.news : [String(error)]));
        return EMPTY;
      }),
    ),
    { defaultValue: undefined },
  );
  return refusals;
}

/** As the recording tells it: `dir 0755 0:0`, with links and mount points. */
function tree(root: string): Readonly<Record<string, string>> {
  const entries: Record<string, string> = {};
  const walk = (path: string, device: number): void => {
    const at = join(root, path);
    const stats = lstatSync(at);
    const type = stats.isDirectory() ? 'dir' : stats.isSymbolicLink() ? 'link' : 'file';
    const target = stats.isSymbolicLink() ? ` -> ${stamped(readlinkSync(at))}` : '';
    const mounted = stats.dev === device ? '' : ' (mount point)';
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
    entries[stamped(path)] = `${type} ${mode} ${stats.uid}:${stats.gid}${target}${mounted}`;
    if (stats.isDirectory()) {
      for (const name of readdirSync(at)) walk(path === '.' ? name : `${path}/${name}`, stats.dev);
    }
  };
  walk('.', lstatSync(root).dev);
  return entries;
}

function stamped(text: string): string {
  return text.replace(/\.\.\d{4}_[\d_]+\.\d+/g, '..<STAMP>');
}

/** What volumes leave, without what containers write into an emptyDir and what is made for each start of one. */
function ofVolumes(entries: Readonly<Record<string, string>>, made?: ReadonlySet<string>): object {
  return Object.fromEntries(
    Object.entries(entries).filter(
      ([path]) =>
        !/^(?:etc-hosts|containers)(?:\/|$)/.test(path) &&
        (made === undefined || made.has(path) || !/^volumes\/kubernetes\.io~empty-dir\/[^/]+\//.test(path)),
    ),
  );
}

describe.skipIf(!canMount)('the folder of a pod', () => {
  it.each(cases)('is what the kubelet makes of it in %s', async (id) => {
    const here = ground(id);
    const { files, events = [] } = read(id);
    const refusals = await prepare(here);

    const ours = tree(here.dir);
    expect(ofVolumes(ours)).toEqual(ofVolumes(files?.podDir ?? {}, new Set(Object.keys(ours))));
    expect(refusals.length > 0).toBe(events.some(({ reason }) => reason === 'FailedMount' || reason === 'Failed'));
  });

  it.each(cases)('can be made ready twice, and unmounted by an agent that never saw it, in %s', async (id) => {
    const here = ground(id);
    await prepare(here);
    const before = { tree: tree(here.dir), mounts: mountsIn(here.base) };
    await prepare(here);
    expect({ tree: tree(here.dir), mounts: mountsIn(here.base) }).toEqual(before);

    const { pod, context: node } = here;
    await lastValueFrom(unmountVolumes(pod.metadata.uid, node), { defaultValue: undefined });
    expect(mountsIn(here.base)).toEqual([]);
    await lastValueFrom(node.files.removeTree(here.dir));
    expect(existsSync(here.dir)).toBe(false);
  });

  it('keeps what containers have put into their emptyDirs', async () => {
    const here = ground('volumes/02-emptydir-memory');
    await prepare(here);
    const file = join(here.dir, 'volumes/kubernetes.io~empty-dir/e/kept');
    writeFileSync(file, 'from the last container');
    chmodSync(join(file, '..'), 0o755);
    await prepare(here);
    expect(readFileSync(file, 'utf8')).toBe('from the last container');
    expect((lstatSync(join(file, '..')).mode & 0o7777).toString(8)).toBe('755');
  });

  it('is left with everything in it while somebody else has something mounted inside of a volume', async () => {
    const here = ground('volumes/01-emptydir');
    await prepare(here);
    const volume = join(here.dir, 'volumes/kubernetes.io~empty-dir/e');
    mkdirSync(join(volume, 'disk'));
    await lastValueFrom(here.context.mounts.mountMemory(join(volume, 'disk'), 4096));
    writeFileSync(join(volume, 'disk', 'precious'), 'data');

    const { pod, context: node } = here;
    await lastValueFrom(unmountVolumes(pod.metadata.uid, node), { defaultValue: undefined });
    await expect(lastValueFrom(node.files.removeTree(here.dir))).rejects.toMatchObject({ code: 'EBUSY' });
    expect(readFileSync(join(volume, 'disk', 'precious'), 'utf8')).toBe('data');
  });

  it('has the texts of the recording in its files', async () => {
    const id = 'volumes/45-downwardapi-labels';
    const here = ground(id);
    await prepare(here);
    const recorded = Object.entries(read(id).files?.volumeFiles ?? {});
    expect(recorded.length).toBeGreaterThan(0);
    const ours = recorded.map(([path]) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      const text = readFileSync(join(here.dir, 'volumes/kubernetes.io~downward-api/d', name), 'utf8');
      return text.replaceAll(here.pod.metadata.uid, '<UID>');
    });
    // The agent notes when it has seen the pod only after the manifest is decoded.
    expect(ours).toEqual(recorded.map(([, text]) => text.replace('kubernetes.io/config.seen="<TIME>"\n', '')));
  });
});
