import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { basename, join } from 'node:path';
import { diff, type Gap } from '../diff.ts';
import type { CaseLife } from '../live-case.ts';
import { withoutNumbers, withPlaceholders } from '../normalise.ts';
import type { Json, JsonObject, PodRecord } from '../record.ts';
import { PATHS } from '../recorded-node.ts';

/** Where containerd keeps the files that it makes for a sandbox. */
const SANDBOX_FILES = '/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes';

/** What lies on the disk for a pod, in the form of the record (cases/README.md, `files`). */
export function compareFiles(
  record: PodRecord,
  life: CaseLife,
  uid: string,
  sandboxId: string | undefined,
): readonly Gap[] {
  const expected = record.files as JsonObject | undefined;
  if (!expected) return [];
  const podDir = `${PATHS.rootDir}/pods/${uid}`;
  const { name, namespace } = record.pod?.metadata ?? { name: '', namespace: '' };
  const logDir = `${PATHS.podLogsDir}/${namespace}_${name}_${uid}`;
  const text = (path: string): string | undefined => readIfThere(path);
  const found: Record<string, Json | undefined> = {
    podDir: treeOf(podDir),
    'etc-hosts': text(`${podDir}/etc-hosts`),
    'resolv.conf': sandboxId === undefined ? undefined : text(`${SANDBOX_FILES}/${sandboxId}/resolv.conf`),
    hostname: sandboxId === undefined ? undefined : text(`${SANDBOX_FILES}/${sandboxId}/hostname`),
    terminationLogs: contentsOf(podDir, Object.keys((expected['terminationLogs'] ?? {}) as JsonObject), life, uid),
    volumeFiles: contentsOf(podDir, Object.keys((expected['volumeFiles'] ?? {}) as JsonObject), life, uid),
    logDir: treeOf(logDir),
    containerLinks: linksOf(`${name}_${namespace}_`),
  };
  return Object.entries(expected).flatMap(([part, there]) => {
    const got = found[part];
    if (!(part in found) || (there === null && got === undefined)) return [];
    const gaps = diff(withoutNumbers(there), got === undefined ? undefined : normal(got, life, uid), `files.${part}`);
    return gaps.filter((gap) => !isOfContainerNeverMade(gap, life));
  });
}

/** Which files of a container that is refused are already there depends on which check comes first. */
function isOfContainerNeverMade({ path }: Gap, { containerNames }: CaseLife): boolean {
  const name = /^files\.(?:podDir\.containers|logDir)(?:[/.]([^/]+))?(?:\/|$)/.exec(path)?.[1];
  const names = [...containerNames.values()].map((each) => each.replace(/#.*/, ''));
  if (name !== undefined) return !names.includes(name);
  return names.length === 0 && /^files\.(?:podDir\.containers|podDir\.etc-hosts|etc-hosts)$/.test(path);
}

/** Differences on the disk that come of time, or that hurt nobody. */
export function isAllowedFile({ path, expected, got }: Gap, { cri }: PodRecord, { containerNames }: CaseLife): boolean {
  // How many logs of earlier instances there are, and with which numbers, depends on the moment.
  const container = /^files\.logDir\.([^/]+)\/\d+\.log$|^files\.containerLinks\..*_([^_]+)-<CONTAINER_ID/.exec(path);
  const [, inFolder, linked] = container ?? [];
  const name = inFolder ?? linked;
  const made = cri.filter((call) => call.call === 'CreateContainer' && call.name === name).length;
  const names = [...containerNames.values()].filter((each) => each.replace(/#.*/, '') === name);
  if (name !== undefined && Math.max(made, names.length) > 1) return true;
  // The kubelet leaves the folders of a kind of volumes when the last volume of that kind is gone.
  const isFolder = /^files\.podDir\.(?:volumes|plugins)\/kubernetes\.io~[^/]+$/.test(path);
  return isFolder && got === undefined && typeof expected === 'string' && expected.startsWith('dir ');
}

function normal<T extends Json>(json: T, life: CaseLife, uid: string): T {
  const text = JSON.stringify(withPlaceholders(json, life, [uid]))
    .replaceAll(/(containers\/[^/"]+\/)[0-9a-f]{8}"/g, '$1<TERMLOG>"')
    .replaceAll(/10\.88\.\d+\.\d+/g, '<POD_IP>') // after an escaped line end there is no word boundary
    .replaceAll(/\.\.\d{4}_[\d_.]+/g, '..<STAMP>');
  return withoutNumbers(JSON.parse(text) as T);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').slice(0, RECORDED);
  } catch {
    return undefined;
  }
}

/** So many characters of a file are in the record. */
const RECORDED = 5_000;

/** `type mode owner:group -> target (mount point)` by path. */
function treeOf(root: string): JsonObject {
  const tree: Record<string, Json> = {};
  const visit = (path: string, name: string, device: number | undefined): void => {
    try {
      const stats = lstatSync(path);
      const target = stats.isSymbolicLink() ? ` -> ${readlinkSync(path)}` : '';
      const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
      // As the recording saw it: a bind on the same file system is none.
      const mount = device !== undefined && stats.dev !== device ? ' (mount point)' : '';
      tree[name] = `${typeOf(stats)} ${mode} ${stats.uid}:${stats.gid}${target}${mount}`;
      if (stats.isDirectory())
        for (const child of readdirSync(path))
          visit(join(path, child), name === '.' ? child : `${name}/${child}`, stats.dev);
    } catch {
      // It went away while we looked.
    }
  };
  visit(root, '.', undefined);
  return tree;
}

function typeOf(stats: Stats): string {
  if (stats.isDirectory()) return 'dir';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  return stats.isFile() ? 'file' : 'device';
}

/** Of the files that the record has the contents of. */
function contentsOf(podDir: string, wanted: readonly string[], life: CaseLife, uid: string): JsonObject {
  const normalised = new Set(wanted.map(withoutNumbers));
  return Object.fromEntries(
    Object.keys(treeOf(podDir)).flatMap((path) => {
      const content = normalised.has(normal(path, life, uid)) ? readIfThere(join(podDir, path)) : undefined;
      return content === undefined ? [] : [[path, content]];
    }),
  );
}

function linksOf(prefix: string): JsonObject {
  return Object.fromEntries(
    readdirSync(PATHS.containerLinksDir)
      .filter((link) => link.startsWith(prefix))
      .map((link) => [basename(link), readlinkSync(join(PATHS.containerLinksDir, link))]),
  );
}
