import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { MANIFESTS } from './recorded-node.ts';

/** `expected.json` of a case, as far as the runner reads it; `cases/README.md` describes the whole. */
export interface CaseRecord extends PodRecord {
  readonly case: { readonly group: string; readonly name: string; readonly kubeletConfig: string };
  readonly steps?: readonly RecordedStep[];
  readonly others?: readonly PodRecord[];
  readonly kubeletPanic?: unknown;
  /** Seconds after which the manifest was taken away. */
  readonly removedAt: number;
  readonly meta: {
    readonly pods: readonly { readonly namespace: string; readonly name: string; readonly uid: string }[];
    readonly manifestPaths: readonly string[];
  };
}

/** What became of one pod. */
export interface PodRecord {
  readonly accepted: boolean;
  readonly rejectedBecause?: { readonly stage: string; readonly raw: string };
  readonly pod: {
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly status?: Json;
  } | null;
  readonly sandboxes: readonly JsonObject[];
  readonly containers: readonly RecordedContainer[];
  readonly containersLeftOut?: number;
  readonly cri: readonly RecordedCall[];
  readonly timeline: readonly RecordedMoment[];
  readonly events?: readonly {
    readonly t: number;
    readonly reason: string;
    readonly field: string;
    readonly message: string;
  }[];
  readonly files?: {
    readonly terminationLogs?: Readonly<Record<string, string>>;
    /** Below the pod's folder. */
    readonly volumeFiles?: Readonly<Record<string, string>>;
  };
  /** Lines by file below the pod's log folder, as `stdout F text`. */
  readonly logs?: Readonly<Record<string, readonly string[]>>;
}

export interface RecordedContainer {
  readonly name: string;
  readonly attempt: number;
  readonly config?: JsonObject;
  readonly state: string | null;
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly atEnd?: { readonly exitCode: number | null; readonly reason: string | null } | null;
}

/** Times are seconds from the moment at which the manifest appeared. */
export interface RecordedCall {
  readonly t: number;
  readonly call: string;
  readonly name?: string;
  readonly attempt?: number;
  /** Of `CreateContainer`, `ExecSync`. */
  readonly container?: string;
  /** Of `StartContainer`, `StopContainer`. */
  readonly container_id?: string;
  readonly cmd?: readonly string[];
  readonly exitCode?: number;
  readonly image?: { readonly image?: string };
  readonly timeout?: number;
  readonly took?: number;
  readonly times?: number;
  readonly error?: { readonly message: string };
}

export interface RecordedMoment {
  readonly t: number;
  readonly phase: string;
  readonly conditions: Readonly<Record<string, string>>;
  readonly containers?: Readonly<Record<string, RecordedState>>;
  readonly initContainers?: Readonly<Record<string, RecordedState>>;
  readonly reason?: string;
  /** Absent for the first UID. */
  readonly uid?: string;
}

interface RecordedState {
  readonly state: string;
  readonly restartCount: number;
  readonly ready: boolean;
  readonly started: boolean | null;
  readonly last?: string;
}

export interface RecordedStep {
  readonly t: number;
  readonly op: string;
  readonly args: readonly (string | number)[];
}

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface CorpusCase {
  /** `group/name`. */
  readonly id: string;
  readonly record: CaseRecord;
  /** The manifests there are at the beginning, by path below the folder. */
  readonly manifests: ReadonlyMap<string, Buffer>;
  /** The texts that are put in place later, in order. */
  readonly stepTexts: readonly Buffer[];
}

/** Every case below a folder, in order. A manifest that is not kept (`manifest.yaml.note`) leaves its case out. */
export function readCorpus(folder: string): {
  readonly cases: readonly CorpusCase[];
  readonly leftOut: readonly string[];
} {
  const ids = foldersIn(folder).flatMap((group) => foldersIn(join(folder, group)).map((name) => `${group}/${name}`));
  const withRecord = ids.filter((id) => existsSync(join(folder, id, 'expected.json')));
  const isWhole = (id: string): boolean => !readdirSync(join(folder, id)).some((name) => name.endsWith('.note'));
  return {
    cases: withRecord.filter(isWhole).map((id) => readCase(folder, id)),
    leftOut: withRecord.filter((id) => !isWhole(id)),
  };
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => statSync(join(folder, name)).isDirectory())
    .sort();
}

function readCase(folder: string, id: string): CorpusCase {
  const directory = join(folder, id);
  const record = JSON.parse(readFileSync(join(directory, 'expected.json'), 'utf8')) as CaseRecord;
  const names = readdirSync(directory).sort();
  const first = names.filter((name) => name.startsWith('manifest'));
  const targets = record.meta.manifestPaths.map((path) => relative(MANIFESTS, path));
  return {
    id,
    record,
    manifests: new Map(first.map((name, index) => [targets[index] ?? name, readFileSync(join(directory, name))])),
    stepTexts: names.filter((name) => name.startsWith('step-')).map((name) => readFileSync(join(directory, name))),
  };
}
