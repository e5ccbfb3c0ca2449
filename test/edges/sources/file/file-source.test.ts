import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filter, firstValueFrom, of, ReplaySubject, Subject, tap, timeout, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Desired } from '../../../../src/model/desired.ts';
import { isFileMemory, type FileMemory, type FileMemoryStore } from '../../../../src/sources/file/file-memory.ts';
import { fileSource } from '../../../../src/sources/file/file-source.ts';

/** Milliseconds; far beyond every test, so that only the watch can be what noticed. */
const NEVER_POLL = 3_600_000;
/** Milliseconds for a change to show on a slow and busy machine. */
const PATIENCE = 60_000;

let root = '';
let dir = '';
const running: Subscription[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rxlet-file-source-'));
  dir = join(root, 'manifests');
});

afterEach(() => {
  for (const subscription of running.splice(0)) subscription.unsubscribe();
  rmSync(root, { recursive: true, force: true });
});

function pod(name: string, image = 'busybox:1'): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: '${name}'}\nspec: {containers: [{name: main, image: '${image}'}]}\n`;
}

function write(name: string, text: string | Buffer): void {
  writeFileSync(join(dir, name), text);
}

function brief({ pods, problems }: Desired): string {
  const wanted = pods.map(
    ({ metadata, spec }) =>
      `${metadata.name.replace('-n1', '')}=${spec.containers[0]?.image?.replace('busybox:', '') ?? ''}`,
  );
  return [...wanted, ...(problems.length > 0 ? ['!'] : [])].join(' ');
}

/** A running source: what it emitted so far, and a way to wait for a value. */
function start(path = dir, store?: FileMemoryStore, fileCheckFrequency = NEVER_POLL) {
  const desired$ = new ReplaySubject<Desired>(Number.POSITIVE_INFINITY);
  const values: string[] = [];
  running.push(
    fileSource({ path, nodeName: 'n1', fileCheckFrequency }, store)
      .pipe(
        tap((desired) => {
          values.push(brief(desired));
        }),
      )
      .subscribe(desired$),
  );
  const until = (expected: string): Promise<Desired> =>
    firstValueFrom(
      desired$.pipe(
        filter((desired) => brief(desired) === expected && values.at(-1) === expected),
        timeout({
          first: PATIENCE,
          with: () => {
            throw new Error(`waited for ${expected}, had ${values.join(' | ')}`);
          },
        }),
      ),
    );
  return { values, until, first: () => firstValueFrom(desired$).then(brief) };
}

/** A source whose watch stands for sure: it has seen a change. */
async function settled(files: Readonly<Record<string, string>> = {}) {
  mkdirSync(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) write(name, text);
  const source = start();
  const before = await source.first();
  write('0-watch.yaml', pod('0-watch'));
  await source.until(['0-watch=1', before].filter(Boolean).join(' '));
  rmSync(join(dir, '0-watch.yaml'));
  await source.until(before);
  return source;
}

function makeFifo(path: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
}

describe('fileSource', () => {
  it('begins with what is there, be it nothing', async () => {
    mkdirSync(dir);
    expect(await start().first()).toBe('');
    write('a.yaml', pod('a'));
    expect(await start().first()).toBe('a=1');
  });

  it('begins with a problem when the path is missing, and notices when it comes', async () => {
    const source = start();
    const { problems } = await source.until('!');
    expect(problems).toEqual([{ source: 'file', origin: dir, message: 'there is no such file or directory' }]);
    mkdirSync(dir);
    await source.until('');
    write('a.yaml', pod('a'));
    await source.until('a=1');
  });

  it('takes a new file, an edit in place, an edit by renaming, and a removal', async () => {
    const { until } = await settled();
    write('a.yaml', pod('a'));
    await until('a=1');
    write('a.yaml', pod('a', 'busybox:2'));
    await until('a=2');
    writeFileSync(join(dir, '.a.yaml.new'), pod('a', 'busybox:3'));
    renameSync(join(dir, '.a.yaml.new'), join(dir, 'a.yaml'));
    await until('a=3');
    rmSync(join(dir, 'a.yaml'));
    await until('');
  });

  it('#1: follows vim through its swap, probe and backup files without ever dropping the pod', async () => {
    const { values, until } = await settled({ 'a.yaml': pod('a') });
    const from = values.length;
    write('.a.yaml.swp', 'x');
    write('4913', '');
    rmSync(join(dir, '4913'));
    writeFileSync(join(dir, 'a.yaml~'), pod('a'));
    write('a.yaml', pod('a', 'busybox:2'));
    rmSync(join(dir, 'a.yaml~'));
    rmSync(join(dir, '.a.yaml.swp'));
    await until('a=2');
    expect(values.slice(from).filter((value) => value === '')).toEqual([]);
  });

  it('holds on to a pod whose file is away for a moment while it is replaced', async () => {
    const { values, until } = await settled({ 'a.yaml': pod('a') });
    const from = values.length;
    for (const round of [1, 2, 3, 4, 5]) {
      renameSync(join(dir, 'a.yaml'), join(dir, 'a.yaml~'));
      write('a.yaml', `# round ${round}\n${pod('a')}`);
    }
    write('z.yaml', pod('z'));
    await until('a=1 z=1');
    expect(values.slice(from)).toEqual(['a=1 z=1']);
  });

  it('#14: emits nothing for a touch, or for the same content written again', async () => {
    const { values, until } = await settled({ 'a.yaml': pod('a') });
    const from = values.length;
    utimesSync(join(dir, 'a.yaml'), new Date(), new Date());
    write('a.yaml', `# a comment\n${pod('a')}`);
    write('a.yaml', pod('a'));
    write('z.yaml', pod('z'));
    await until('a=1 z=1');
    expect(values.slice(from)).toEqual(['a=1 z=1']);
  });

  it('gives the pod another UID when its file is renamed', async () => {
    const { until } = await settled({ 'a.yaml': pod('a') });
    const before = (await until('a=1')).pods[0]?.metadata.uid;
    renameSync(join(dir, 'a.yaml'), join(dir, 'b.yaml'));
    write('z.yaml', pod('z'));
    const after = (await until('a=1 z=1')).pods[0]?.metadata.uid;
    expect(after).not.toBe(before);
  });

  it('keeps the pod of a file that breaks until it is mended', async () => {
    const { until } = await settled({ 'a.yaml': pod('a') });
    write('a.yaml', 'kind: [Pod\n');
    const { problems } = await until('a=1 !');
    expect(problems[0]).toMatchObject({ origin: join(dir, 'a.yaml'), position: { line: 2, column: 1 } });
    write('a.yaml', pod('a', 'busybox:2'));
    await until('a=2');
  });

  it('#2: lets the pod that runs stay when another file claims its name, and hands over when it goes', async () => {
    const { until } = await settled({ 'b.yaml': pod('web') });
    write('a.yaml', pod('web', 'busybox:2'));
    const { problems } = await until('web=1 !');
    expect(problems[0]?.origin).toBe(join(dir, 'a.yaml'));
    expect(problems[0]?.message).toContain(join(dir, 'b.yaml'));
    rmSync(join(dir, 'b.yaml'));
    await until('web=2');
  });

  it('#2: looks at nothing but *.yaml, *.yml and *.json of the directory itself', async () => {
    const { until } = await settled();
    for (const name of ['a.yaml.bak', '.b.yaml', 'c.yaml~', 'd', 'e.txt', 'f.yaml.swp', '#g.yaml#'])
      write(name, pod('no'));
    mkdirSync(join(dir, 'sub.yaml'));
    write('sub.yaml/h.yaml', pod('no'));
    makeFifo(join(dir, 'fifo.yaml'));
    const server = createServer().listen(join(dir, 'socket.yaml'));
    symlinkSync('nowhere', join(dir, 'dangling.yaml'));
    write('i.yaml', pod('i'));
    write('j.yml', pod('j'));
    write(
      'k.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'k' },
        spec: { containers: [{ name: 'm', image: 'busybox:1' }] },
      }),
    );
    await until('i=1 j=1 k=1');
    server.close();
  });

  it('refuses a file beyond 10 MiB and one that is no text, and keeps what they held', async () => {
    const { until } = await settled({ 'a.yaml': pod('a'), 'b.yaml': pod('b') });
    write('a.yaml', `${pod('a', 'busybox:2')}# ${'x'.repeat(10 * 1024 * 1024)}\n`);
    write('b.yaml', Buffer.from([0xff, 0xfe, 0x00]));
    await until('a=1 b=1 !');
    write('a.yaml', `${pod('a', 'busybox:3')}# ${'x'.repeat(5 * 1024 * 1024)}\n`);
    write('b.yaml', pod('b', 'busybox:3'));
    await until('a=3 b=3');
  });

  it('keeps the pod of a file that cannot be read', async () => {
    const { until } = await settled({ 'a.yaml': pod('a') });
    // Reading this one always fails, for root too.
    symlinkSync('/proc/self/mem', join(dir, 'new'));
    renameSync(join(dir, 'new'), join(dir, 'a.yaml'));
    const { problems } = await until('a=1 !');
    expect(problems[0]?.message).toContain('cannot be read: EIO');
  });

  it('takes a directory of 30 manifests that is moved in', async () => {
    const source = start();
    await source.until('!');
    const staged = join(root, 'staged');
    mkdirSync(staged);
    const names = Array.from({ length: 30 }, (_, index) => `p${String(index).padStart(2, '0')}`);
    for (const name of names) writeFileSync(join(staged, `${name}.yaml`), pod(name));
    renameSync(staged, dir);
    await source.until(names.map((name) => `${name}=1`).join(' '));
  });

  it('follows the directory when it is removed, made again, and moved away and back', async () => {
    const { until } = await settled({ 'a.yaml': pod('a') });
    rmSync(dir, { recursive: true });
    await until('!');
    mkdirSync(dir);
    await until('');
    write('b.yaml', pod('b'));
    await until('b=1');
    renameSync(dir, join(root, 'away'));
    await until('!');
    renameSync(join(root, 'away'), dir);
    await until('b=1');
    write('c.yaml', pod('c'));
    await until('b=1 c=1');
  });

  it('notices when its parent directory is removed and made again', async () => {
    const deep = join(root, 'parent', 'manifests');
    mkdirSync(deep, { recursive: true });
    const { until } = start(deep);
    await until('');
    rmSync(join(root, 'parent'), { recursive: true });
    await until('!');
    mkdirSync(deep, { recursive: true });
    await until('');
    writeFileSync(join(deep, 'a.yaml'), pod('a'));
    await until('a=1');
  });

  it('follows a directory that is a link, also when it is turned to another one', async () => {
    for (const name of ['one', 'two']) mkdirSync(join(root, name));
    writeFileSync(join(root, 'two', 'b.yaml'), pod('b'));
    symlinkSync('one', dir);
    const { until } = start();
    await until('');
    writeFileSync(join(root, 'one', 'a.yaml'), pod('a'));
    await until('a=1');
    symlinkSync('two', join(root, 'link'));
    renameSync(join(root, 'link'), dir);
    await until('b=1');
    writeFileSync(join(root, 'two', 'c.yaml'), pod('c'));
    await until('b=1 c=1');
  });

  it('follows files that are swapped all at once behind links, as Kubernetes writes config maps', async () => {
    const { until } = await settled();
    mkdirSync(join(dir, '..1'));
    write('..1/a.yaml', pod('a'));
    symlinkSync('..1', join(dir, '..data'));
    symlinkSync('..data/a.yaml', join(dir, 'a.yaml'));
    await until('a=1');
    mkdirSync(join(dir, '..2'));
    write('..2/a.yaml', pod('a', 'busybox:2'));
    symlinkSync('..2', join(dir, '..data_tmp'));
    renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    rmSync(join(dir, '..1'), { recursive: true });
    await until('a=2');
  });

  it('follows an edit of a file elsewhere that a link leads to', async () => {
    mkdirSync(dir);
    const elsewhere = join(root, 'a.yaml');
    writeFileSync(elsewhere, pod('a'));
    const { until } = start();
    await until('');
    symlinkSync(elsewhere, join(dir, 'link.yaml'));
    await until('a=1');
    writeFileSync(elsewhere, pod('a', 'busybox:2'));
    await until('a=2');
    symlinkSync(join(root, 'nowhere'), join(dir, 'nothing.yaml'));
    writeFileSync(elsewhere, pod('a', 'busybox:3'));
    await until('a=3');
  });

  it('takes a single file of any name, through edits, removal and return', async () => {
    mkdirSync(dir);
    const file = join(dir, 'the-pod');
    writeFileSync(file, pod('a'));
    const { until } = start(file);
    await until('a=1');
    writeFileSync(file, pod('a', 'busybox:2'));
    await until('a=2');
    writeFileSync(join(dir, 'new'), pod('a', 'busybox:3'));
    renameSync(join(dir, 'new'), file);
    await until('a=3');
    rmSync(file);
    await until('!');
    writeFileSync(file, pod('a', 'busybox:4'));
    await until('a=4');
  });

  it('refuses a path that is neither a file nor a directory', async () => {
    makeFifo(dir);
    const { problems } = await start().until('!');
    expect(problems[0]?.message).toBe('is neither a file nor a directory');
  });

  it('finds by looking now and then what no watch could tell', async () => {
    mkdirSync(join(root, 'a/b'), { recursive: true });
    symlinkSync('a', join(root, 'link'));
    const { until } = start(join(root, 'link/b'), undefined, 50);
    await until('');
    mkdirSync(join(root, 'c/b'), { recursive: true });
    writeFileSync(join(root, 'c/b/x.yaml'), pod('x'));
    symlinkSync('c', join(root, 'link2'));
    renameSync(join(root, 'link2'), join(root, 'link'));
    await until('x=1');
  });

  it('remembers over a restart what a broken file ran and which file owns a name', async () => {
    mkdirSync(dir);
    write('a.yaml', pod('a'));
    write('c.yaml', pod('web'));
    const kept$ = new Subject<undefined>();
    let kept: unknown;
    const store: FileMemoryStore = {
      load: () => of(isFileMemory(kept) ? kept : undefined),
      save: (memory: FileMemory) => {
        kept = JSON.parse(JSON.stringify(memory));
        kept$.next(undefined);
        return of(undefined);
      },
    };
    const saved = firstValueFrom(kept$);
    await start(dir, store).until('a=1 web=1');
    await saved;
    for (const subscription of running.splice(0)) subscription.unsubscribe();

    write('a.yaml', 'kind: [Pod\n');
    write('b.yaml', pod('web', 'busybox:2'));
    const { problems } = await start(dir, store).until('a=1 web=1 !');
    expect(problems.map(({ origin }) => origin)).toEqual([join(dir, 'a.yaml'), join(dir, 'b.yaml')]);
  });
});
