import type { Desired, Problem } from '../../model/desired.ts';
import { keyOf, type LocalObject } from '../../model/objects/local-object.ts';
import type { ManifestOrigin } from '../../model/manifest/settle-identity.ts';
import { fullNameOf, type Pod, type SourceName } from '../../model/pod.ts';
import { decodeManifest, type DecodedManifest } from '../manifest/decode-manifest.ts';
import { claimNames, type Claim } from './claim-names.ts';
import { claimObjects, keepImmutable, type ObjectClaim } from './claim-objects.ts';
import { EMPTY_MEMORY, type FileMemory } from './file-memory.ts';
import type { FileReading } from './look-at-file.ts';
import type { ManifestScan } from './scan-manifests.ts';

/** The file source between two scans. */
export interface ManifestState {
  readonly memory: FileMemory;
  readonly desired: Desired;
  /** What was decoded of every reading, so that an unchanged file is not decoded again. */
  readonly decoded: ReadonlyMap<FileReading['content'], DecodedManifest>;
  /** The last scan that was folded; absent after one that failed. */
  readonly scan?: ReadScan;
}

type ReadScan = Extract<ManifestScan, { kind: 'read' }>;

export interface FoldOptions {
  /** The path, or the URL. */
  readonly path: string;
  readonly nodeName: string;
  /** Absent: `file`. */
  readonly source?: SourceName;
}

/** Before the first look; without a memory nothing is known of what is wanted. */
export function initialState(memory?: FileMemory): ManifestState {
  const nothing: Desired = { source: 'file', pods: [], problems: [] };
  const desired: Desired = memory ? nothing : { ...nothing, unheard: true };
  return { memory: memory ?? EMPTY_MEMORY, desired, decoded: new Map() };
}

/**
 * Folds a scan into what the files want to run. A file that has a problem keeps its last good pods beside those that
 * are good in it now; a file that vanished takes its pods with it; a scan that failed changes nothing but tells why.
 * What a URL answers is folded as the one file of a folder. A scan that shows what the last one has shown leaves the
 * very same state.
 */
export function foldManifests(state: ManifestState, scan: ManifestScan, options: FoldOptions): ManifestState {
  const { source = 'file' } = options;
  if (scan.kind === 'read' && state.scan && isSameScan(state.scan, scan)) return state;
  const folded =
    scan.kind === 'failed' ? keepEverything(state, options.path, scan.message) : foldFiles(state, scan, options);
  if (source === 'file') return folded;
  const { desired } = folded;
  return {
    ...folded,
    desired: { ...desired, source, problems: desired.problems.map((problem) => ({ ...problem, source })) },
  };
}

function foldFiles(
  state: ManifestState,
  scan: ReadScan,
  { path, nodeName, source = 'file' }: FoldOptions,
): ManifestState {
  const decoded = new Map(
    scan.files.map(({ path: origin, content }) => [
      content,
      state.decoded.get(content) ?? decode(content, { origin, source, nodeName }),
    ]),
  );
  const files = scan.files.map((file) => ({
    path: file.path,
    ...settle(file, decoded.get(file.content) ?? NOTHING, state.memory),
  }));
  const {
    pods,
    problems: duplicates,
    owners,
  } = claimNames(
    files.flatMap(({ claims }) => claims),
    state.memory.owners,
  );
  const served = claimObjects(
    files.flatMap(({ objects }) => objects),
    state.memory.objectOwners,
  );
  const missing = scan.missing === undefined ? [] : [{ source: 'file' as const, origin: path, message: scan.missing }];
  return {
    memory: {
      version: 1,
      files: Object.fromEntries(files.map(({ path: origin, claims }) => [origin, claims.map(({ pod }) => pod)])),
      owners,
      ...(served.objects.length > 0 && {
        objects: Object.fromEntries(
          files.map(({ path: origin, objects }) => [origin, objects.map(({ object }) => object)]),
        ),
        objectOwners: served.owners,
      }),
    },
    desired: {
      source: 'file',
      pods,
      ...withObjects(served.objects),
      problems: [...missing, ...files.flatMap(({ problems }) => problems), ...duplicates, ...served.problems],
    },
    decoded,
    scan,
  };
}

function isSameScan(before: ReadScan, now: ReadScan): boolean {
  return (
    before.missing === now.missing &&
    before.files.length === now.files.length &&
    before.files.every(({ path, content }, at) => now.files[at]?.path === path && now.files[at].content === content)
  );
}

/**
 * What could not be looked at runs on, also when the agent has only just started: where nothing is remembered, such a
 * look does not say that nothing is wanted.
 */
function keepEverything(state: ManifestState, origin: string, message: string): ManifestState {
  const claims = Object.entries(state.memory.files).flatMap(([path, pods]) =>
    pods.map((pod): Claim => ({ path, pod })),
  );
  const { pods, problems } = claimNames(claims, state.memory.owners);
  const held = Object.entries(state.memory.objects ?? {}).flatMap(([path, objects]) =>
    objects.map((object): ObjectClaim => ({ path, object })),
  );
  const served = claimObjects(held, state.memory.objectOwners);
  const failed: Problem = { source: 'file', origin, message };
  return {
    memory: state.memory,
    decoded: state.decoded,
    desired: {
      source: 'file',
      ...(state.desired.unheard && { unheard: true }),
      pods,
      ...withObjects(served.objects),
      problems: [failed, ...problems, ...served.problems],
    },
  };
}

function withObjects(objects: readonly LocalObject[]): Pick<Desired, 'objects'> {
  return objects.length > 0 ? { objects } : {};
}

function decode(content: FileReading['content'], from: ManifestOrigin): DecodedManifest {
  if ('text' in content) return decodeManifest(content.text, from);
  return { ...NOTHING, problems: [{ source: from.source, origin: from.origin, message: content.unreadable }] };
}

const NOTHING: DecodedManifest = { pods: [], positions: [], objects: [], problems: [] };

interface Settled {
  readonly claims: readonly Claim[];
  readonly objects: readonly ObjectClaim[];
  readonly problems: readonly Problem[];
}

function settle({ path, content }: FileReading, decoded: DecodedManifest, memory: FileMemory): Settled {
  const lastPods = ofFile(memory.files, path);
  const lastObjects = ofFile(memory.objects ?? {}, path);
  const claims = decoded.pods.map((pod, index): Claim => {
    const position = decoded.positions[index];
    return { path, pod, ...(position && { position }) };
  });
  const settled = decoded.objects.map(({ object, position }) =>
    keepImmutable(
      { path, object, position },
      lastObjects.find((former) => keyOf(former) === keyOf(object)),
    ),
  );
  const objects = settled.map(([claim]) => claim);
  const changed = settled.flatMap(([, problem]) => problem ?? []);
  const emptied = 'text' in content && content.text.trim() === '' && lastPods.length + lastObjects.length > 0;
  if (decoded.problems.length === 0 && !emptied) return { claims, objects, problems: changed };

  const kept = lastPods.filter((pod) => !holds(decoded.pods, pod)).map((pod): Claim => ({ path, pod }));
  const keptObjects = lastObjects
    .filter((object) => !objects.some((claim) => keyOf(claim.object) === keyOf(object)))
    .map((object): ObjectClaim => ({ path, object }));
  const empty: Problem = {
    source: 'file',
    origin: path,
    message: 'is empty; what it held runs on until the file is filled or removed',
  };
  return {
    claims: [...claims, ...kept],
    objects: [...objects, ...keptObjects],
    problems: [...decoded.problems, ...changed, ...(emptied ? [empty] : [])],
  };
}

function ofFile<T>(byPath: Readonly<Record<string, readonly T[]>>, path: string): readonly T[] {
  return (Object.hasOwn(byPath, path) ? byPath[path] : undefined) ?? [];
}

function holds(pods: readonly Pod[], pod: Pod): boolean {
  return pods.some((other) => fullNameOf(other) === fullNameOf(pod));
}
