import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../../../src/model/desired.ts';
import { EMPTY_MEMORY, isFileMemory, type FileMemory } from '../../../../src/sources/file/file-memory.ts';
import { foldManifests, initialState, type ManifestState } from '../../../../src/sources/file/fold-manifests.ts';
import type { ManifestScan } from '../../../../src/sources/file/scan-manifests.ts';

const OPTIONS = { path: '/m', nodeName: 'n1' };
const BROKEN = 'kind: "Pod\n';

type Content = string | { readonly unreadable: string };

function scanOf(files: Readonly<Record<string, Content>>): ManifestScan {
  const readings = Object.entries(files).map(([path, content]) => ({
    path,
    inode: 1n,
    content: typeof content === 'string' ? { text: content } : content,
  }));
  return { kind: 'read', files: readings.toSorted((a, b) => (a.path < b.path ? -1 : 1)), unsettled: false };
}

/** What is left after some scans, the agent starting with a memory. */
function after(memory: FileMemory, ...scans: readonly Readonly<Record<string, Content>>[]): ManifestState {
  return scans.reduce((state, files) => foldManifests(state, scanOf(files), OPTIONS), initialState(memory));
}

/** As it comes back from a disk. */
function restarted({ memory }: ManifestState): FileMemory {
  const read: unknown = JSON.parse(JSON.stringify(memory));
  if (!isFileMemory(read)) throw new Error('the memory cannot be read back');
  return read;
}

function pod(name: string, image = 'busybox:1', uid?: string): string {
  const meta = uid === undefined ? `{name: ${name}}` : `{name: ${name}, uid: ${uid}}`;
  return `apiVersion: v1\nkind: Pod\nmetadata: ${meta}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;
}

const running = ({ desired }: ManifestState): readonly string[] =>
  desired.pods.map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0]?.image ?? ''}`);
const problems = ({ desired }: ManifestState): readonly string[] => desired.problems.map(describeProblem);

describe('foldManifests', () => {
  it('wants what the files say, in their order', () => {
    const state = after(EMPTY_MEMORY, { '/m/b.yaml': pod('b'), '/m/a.yaml': `${pod('z')}---\n${pod('a')}` });
    expect(running(state)).toEqual(['z-n1 busybox:1', 'a-n1 busybox:1', 'b-n1 busybox:1']);
    expect(problems(state)).toEqual([]);
  });

  it('lets a pod go with its file, and with its document', () => {
    expect(
      running(after(EMPTY_MEMORY, { '/m/a.yaml': pod('a'), '/m/b.yaml': pod('b') }, { '/m/b.yaml': pod('b') })),
    ).toEqual(['b-n1 busybox:1']);
    expect(
      running(after(EMPTY_MEMORY, { '/m/a.yaml': `${pod('a')}---\n${pod('b')}` }, { '/m/a.yaml': pod('b') })),
    ).toEqual(['b-n1 busybox:1']);
    expect(running(after(EMPTY_MEMORY, { '/m/a.yaml': pod('a') }, { '/m/a.yaml': '# no more\n' }))).toEqual([]);
  });

  it.each<[string, Content]>([
    ['broken', BROKEN],
    ['invalid', pod('a', ' ')],
    ['of another kind', 'apiVersion: v1\nkind: Service\n'],
    ['unreadable', { unreadable: 'cannot be read: EACCES' }],
    ['emptied, as it is for a moment while being written', ''],
  ])('keeps the last good pod of a file that becomes %s, and says what is wrong', (_what, content) => {
    const state = after(EMPTY_MEMORY, { '/m/a.yaml': pod('a') }, { '/m/a.yaml': content });
    expect(running(state)).toEqual(['a-n1 busybox:1']);
    expect(problems(state).length).toBeGreaterThan(0);
    expect(running(after(restarted(state), { '/m/a.yaml': content }))).toEqual(['a-n1 busybox:1']);
    expect(problems(foldManifests(state, scanOf({ '/m/a.yaml': pod('a', 'busybox:2') }), OPTIONS))).toEqual([]);
  });

  it('is quiet about an empty file that held nothing', () => {
    expect(after(EMPTY_MEMORY, { '/m/a.yaml': '' }).desired).toEqual({ source: 'file', pods: [], problems: [] });
  });

  it('takes the good documents of a file at once and keeps the last good pods for the others', () => {
    const before = `${pod('a')}---\n${pod('b')}`;
    const mixed = `${pod('a', 'busybox:2')}---\n${BROKEN}`;
    const state = after(EMPTY_MEMORY, { '/m/a.yaml': before }, { '/m/a.yaml': mixed });
    expect(running(state)).toEqual(['a-n1 busybox:2', 'b-n1 busybox:1']);
    expect(running(foldManifests(state, scanOf({ '/m/a.yaml': BROKEN }), OPTIONS))).toEqual([
      'a-n1 busybox:2',
      'b-n1 busybox:1',
    ]);
  });

  it('forgets a broken file that is removed', () => {
    const state = after(EMPTY_MEMORY, { '/m/a.yaml': pod('a') }, { '/m/a.yaml': BROKEN }, {});
    expect(running(state)).toEqual([]);
    expect(state.memory).toEqual(EMPTY_MEMORY);
  });

  it('lets the pod that runs keep its name, names both files, and hands over when the first goes', () => {
    const first = { '/m/b.yaml': pod('web') };
    const both = { ...first, '/m/a.yaml': pod('web', 'busybox:2') };
    const state = after(EMPTY_MEMORY, first, both);
    expect(running(state)).toEqual(['web-n1 busybox:1']);
    expect(problems(state)).toEqual(['/m/a.yaml:1:1: metadata.name: default/web-n1 already comes from /m/b.yaml']);
    expect(running(after(restarted(state), both))).toEqual(['web-n1 busybox:1']);

    const handedOver = foldManifests(state, scanOf({ '/m/a.yaml': pod('web', 'busybox:2') }), OPTIONS);
    expect(running(handedOver)).toEqual(['web-n1 busybox:2']);
    expect(problems(handedOver)).toEqual([]);
  });

  it('lets the file that runs a pod also change it while another one claims it', () => {
    const state = after(
      EMPTY_MEMORY,
      { '/m/b.yaml': pod('web') },
      { '/m/a.yaml': pod('web', 'busybox:2'), '/m/b.yaml': pod('web', 'busybox:3') },
    );
    expect(running(state)).toEqual(['web-n1 busybox:3']);
  });

  it('takes the first of two claims that appear together', () => {
    const state = after(EMPTY_MEMORY, {
      '/m/a.yaml': `${pod('web')}---\n${pod('web', 'busybox:2')}`,
      '/m/b.yaml': pod('web', 'busybox:3'),
    });
    expect(running(state)).toEqual(['web-n1 busybox:1']);
    expect(problems(state)).toEqual([
      '/m/a.yaml:6:1: metadata.name: default/web-n1 already comes from /m/a.yaml',
      '/m/b.yaml:1:1: metadata.name: default/web-n1 already comes from /m/a.yaml',
    ]);
  });

  it('lets no two pods have one UID', () => {
    const state = after(EMPTY_MEMORY, {
      '/m/a.yaml': pod('a', 'busybox:1', 'same'),
      '/m/b.yaml': pod('b', 'busybox:1', 'same'),
    });
    expect(running(state)).toEqual(['a-n1 busybox:1']);
    expect(problems(state)).toEqual([
      '/m/b.yaml:1:1: metadata.uid: same is already the UID of default/a-n1 from /m/a.yaml',
    ]);
  });

  it('keeps everything when the directory cannot be looked at, also right after a start', () => {
    const state = after(EMPTY_MEMORY, { '/m/a.yaml': pod('a') });
    for (const before of [state, initialState(restarted(state))]) {
      const failed = foldManifests(before, { kind: 'failed', message: 'EIO: i/o error' }, OPTIONS);
      expect(running(failed)).toEqual(['a-n1 busybox:1']);
      expect(problems(failed)).toEqual(['/m: EIO: i/o error']);
    }
  });

  it('is unheard where the first look fails and nothing is remembered, until one succeeds', () => {
    const failed = foldManifests(initialState(), { kind: 'failed', message: 'EIO: i/o error' }, OPTIONS);
    expect(failed.desired).toMatchObject({ unheard: true, pods: [] });
    expect(problems(failed)).toEqual(['/m: EIO: i/o error']);
    const again = foldManifests(failed, { kind: 'failed', message: 'EIO: i/o error' }, OPTIONS);
    expect(again.desired.unheard).toBe(true);

    const seen = foldManifests(again, scanOf({ '/m/a.yaml': pod('a') }), OPTIONS);
    expect(seen.desired).not.toHaveProperty('unheard');
    expect(foldManifests(seen, { kind: 'failed', message: 'EIO' }, OPTIONS).desired).not.toHaveProperty('unheard');
    const remembered = foldManifests(initialState(restarted(seen)), { kind: 'failed', message: 'EIO' }, OPTIONS);
    expect(remembered.desired).not.toHaveProperty('unheard');
    expect(running(remembered)).toEqual(['a-n1 busybox:1']);
  });

  it('wants nothing when the path is missing, counts as heard, and says so', () => {
    const state = foldManifests(
      after(EMPTY_MEMORY, { '/m/a.yaml': pod('a') }),
      { kind: 'read', files: [], missing: 'there is no such file or directory', unsettled: false },
      OPTIONS,
    );
    expect(state.desired.pods).toEqual([]);
    expect(problems(state)).toEqual(['/m: there is no such file or directory']);
    const first = foldManifests(
      initialState(),
      { kind: 'read', files: [], missing: 'there is no such file or directory', unsettled: false },
      OPTIONS,
    );
    expect(first.desired).not.toHaveProperty('unheard');
  });
});

describe('isFileMemory', () => {
  it.each([
    [undefined],
    [null],
    [7],
    [{}],
    [{ version: 2, files: {}, owners: {} }],
    [{ version: 1, files: { a: [{}] }, owners: {} }],
    [{ version: 1, files: {}, owners: { a: 1 } }],
  ])('does not trust %j', (value) => {
    expect(isFileMemory(value)).toBe(false);
  });
});
