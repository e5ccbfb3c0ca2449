import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkpointStore } from '../../../src/cli/checkpoint-store.ts';
import { nodeFiles } from '../../../src/host/files/node-files.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import type { Checkpoint, CheckpointStore } from '../../../src/streams/checkpoints/checkpoints.ts';

let root: string;
let folder: string;
let store: CheckpointStore;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rxlet-state-'));
  folder = join(root, 'state');
  store = checkpointStore(folder, nodeFiles());
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const checkpoint = (uid: string, phase = 'Running'): Checkpoint => ({
  version: 1,
  uid: uid as PodUid,
  status: { phase },
  restarts: { main: { key: 'k', backoff: { delay: 10_000, since: 1 } } },
});

describe('checkpointStore, on a real folder', () => {
  it('knows nothing where there is no folder yet', async () => {
    await expect(lastValueFrom(store.load())).resolves.toEqual([]);
  });

  it('gives back what it was given', async () => {
    await lastValueFrom(store.save(checkpoint('one')));
    await lastValueFrom(store.save(checkpoint('two')));
    const found = await lastValueFrom(store.load());
    expect(found.toSorted((a, b) => (a.uid < b.uid ? -1 : 1))).toEqual([checkpoint('one'), checkpoint('two')]);
  });

  it('replaces what it had, and leaves no other file behind', async () => {
    await lastValueFrom(store.save(checkpoint('one', 'Pending')));
    await lastValueFrom(store.save(checkpoint('one', 'Failed')));
    await expect(lastValueFrom(store.load())).resolves.toEqual([checkpoint('one', 'Failed')]);
    expect(readdirSync(folder)).toEqual(['one.json']);
  });

  it('lets nobody but its owner read it', async () => {
    await lastValueFrom(store.save(checkpoint('one')));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'one.json')).mode & 0o777).toBe(0o600);
  });

  it('removes one, and is content when it is not there', async () => {
    await lastValueFrom(store.save(checkpoint('one')));
    await lastValueFrom(store.remove('one' as PodUid));
    await lastValueFrom(store.remove('one' as PodUid));
    await expect(lastValueFrom(store.load())).resolves.toEqual([]);
  });

  it('passes over what was cut off, what is of another version, what is no checkpoint, and other files', async () => {
    await lastValueFrom(store.save(checkpoint('good')));
    const whole = readFileSync(join(folder, 'good.json'), 'utf8');
    writeFileSync(join(folder, 'cut.json'), whole.slice(0, 20));
    writeFileSync(join(folder, 'empty.json'), '');
    writeFileSync(join(folder, 'old.json'), JSON.stringify({ ...checkpoint('old'), version: 0 }));
    writeFileSync(join(folder, 'null.json'), 'null');
    writeFileSync(join(folder, 'list.json'), '[]');
    writeFileSync(join(folder, '.good.json.tmp'), whole);
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    mkdirSync(join(folder, 'folder.json'));
    await expect(lastValueFrom(store.load())).resolves.toEqual([checkpoint('good')]);
  });

  it('tells when it cannot write', async () => {
    writeFileSync(folder, 'a file in the place of the folder');
    await expect(lastValueFrom(store.save(checkpoint('one')))).rejects.toThrow(/EEXIST|ENOTDIR/);
  });

  it('does nothing before somebody subscribes', () => {
    void store.save(checkpoint('one'));
    void store.remove('one' as PodUid);
    expect(readdirSync(root)).toEqual([]);
  });
});
