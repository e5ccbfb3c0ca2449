import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../../../src/model/desired.ts';
import { keyOf } from '../../../../src/model/objects/local-object.ts';
import {
  EMPTY_MEMORY,
  isFileMemory,
  withoutSecrets,
  type FileMemory,
} from '../../../../src/sources/file/file-memory.ts';
import { foldManifests, initialState, type ManifestState } from '../../../../src/sources/file/fold-manifests.ts';
import type { ManifestScan } from '../../../../src/sources/file/scan-manifests.ts';

function scanOf(files: Readonly<Record<string, string>>): ManifestScan {
  const readings = Object.entries(files).map(([path, text]) => ({ path, inode: 1n, content: { text } }));
  return { kind: 'read', files: readings.toSorted((a, b) => (a.path < b.path ? -1 : 1)), unsettled: false };
}

function after(memory: FileMemory, ...scans: readonly ManifestScan[]): ManifestState {
  return scans.reduce(
    (state, scan) => foldManifests(state, scan, { path: '/m', nodeName: 'n1' }),
    initialState(memory),
  );
}

/** As it comes back from a disk. */
function restarted({ memory }: ManifestState): FileMemory {
  const read: unknown = JSON.parse(JSON.stringify(withoutSecrets(memory)));
  if (!isFileMemory(read)) throw new Error('the memory cannot be read back');
  return read;
}

const config = (name: string, value: string, more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {a: '${value}'}\n${more}`;
const secret = (value: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: ${value}}\n`;

const held = ({ desired }: ManifestState): readonly string[] =>
  (desired.objects ?? []).map(
    (object) => `${keyOf(object)} ${object.kind === 'ConfigMap' ? (object.data['a'] ?? '') : ''}`,
  );
const problems = ({ desired }: ManifestState): readonly string[] => desired.problems.map(describeProblem);

const BROKEN = scanOf({ '/m/a.yaml': 'kind: "ConfigMap\n' });

describe('foldManifests, of objects', () => {
  it('holds what the files say', () => {
    expect(held(after(EMPTY_MEMORY, scanOf({ '/m/a.yaml': config('a', '1'), '/m/b.yaml': config('b', '2') })))).toEqual(
      ['ConfigMap/default/a 1', 'ConfigMap/default/b 2'],
    );
  });

  it('keeps the last good object of a file that breaks, over a restart too', () => {
    const good = scanOf({ '/m/a.yaml': config('a', '1') });
    const broken = after(EMPTY_MEMORY, good, BROKEN);
    expect(held(broken)).toEqual(['ConfigMap/default/a 1']);
    expect(problems(broken).length).toBe(1);
    expect(held(after(restarted(broken), BROKEN))).toEqual(['ConfigMap/default/a 1']);
    expect(held(after(restarted(broken), { kind: 'failed', message: 'no' }))).toEqual(['ConfigMap/default/a 1']);
  });

  it('keeps the last good Secret of a file that breaks, and never saves one', () => {
    const broken = after(EMPTY_MEMORY, scanOf({ '/m/a.yaml': secret('hunter2') }), BROKEN);
    expect(held(broken)).toEqual(['Secret/default/s ']);
    expect(JSON.stringify(restarted(broken))).not.toMatch(/hunter2|aHVudGVyMg/);
    expect(held(after(restarted(broken), BROKEN))).toEqual([]);
  });

  it('lets an object go with its file', () => {
    expect(held(after(EMPTY_MEMORY, scanOf({ '/m/a.yaml': config('a', '1') }), scanOf({})))).toEqual([]);
  });

  it('leaves an object to the file that had it first', () => {
    const first = scanOf({ '/m/b.yaml': config('a', '1') });
    const both = scanOf({ '/m/a.yaml': config('a', '2'), '/m/b.yaml': config('a', '1') });
    const state = after(EMPTY_MEMORY, first, both);
    expect(held(state)).toEqual(['ConfigMap/default/a 1']);
    expect(problems(state)).toEqual([
      '/m/a.yaml:1:1: metadata.name: the ConfigMap default/a already comes from /m/b.yaml',
    ]);
    expect(held(after(restarted(state), both))).toEqual(['ConfigMap/default/a 1']);
    expect(held(after(EMPTY_MEMORY, first, both, scanOf({ '/m/a.yaml': config('a', '2') })))).toEqual([
      'ConfigMap/default/a 2',
    ]);
  });

  it('keeps the data of what is immutable until it is removed', () => {
    const first = scanOf({ '/m/a.yaml': config('a', '1', 'immutable: true\n') });
    const changed = scanOf({ '/m/a.yaml': config('a', '2') });
    const state = after(EMPTY_MEMORY, first, changed, changed);
    expect(held(state)).toEqual(['ConfigMap/default/a 1']);
    expect(problems(state)).toEqual([
      '/m/a.yaml:1:1: is immutable: its data must not change; remove it first, or give the new one another name',
    ]);
    expect(held(after(EMPTY_MEMORY, first, scanOf({}), changed))).toEqual(['ConfigMap/default/a 2']);
  });
});
