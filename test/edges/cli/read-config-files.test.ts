import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfigFiles } from '../../../src/cli/read-config-files.ts';
import { describeProblem } from '../../../src/model/desired.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-config-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe('readConfigFiles', () => {
  it('finds nothing where no flag names a file', async () => {
    expect(await lastValueFrom(readConfigFiles(undefined, undefined))).toEqual({
      layers: [],
      problems: [],
      skipped: [],
    });
  });

  it('reads the file first, then every .conf below the folder by its path', async () => {
    const config = put('kubelet.yaml', HEAD);
    put('d/20.conf', HEAD);
    put('d/10/b.conf', HEAD);
    put('d/10/a.conf', `{"kind": "KubeletConfiguration"}`);
    put('d/notes.txt', 'nothing');
    const { layers, problems, skipped } = await lastValueFrom(readConfigFiles(config, join(folder, 'd')));
    expect(problems).toEqual([]);
    expect(layers.map(({ origin }) => origin.slice(folder.length))).toEqual([
      '/kubelet.yaml',
      '/d/10/a.conf',
      '/d/10/b.conf',
      '/d/20.conf',
    ]);
    expect(skipped).toEqual([join(folder, 'd/notes.txt')]);
  });

  it('reads when somebody subscribes, not before', async () => {
    const files$ = readConfigFiles(join(folder, 'late.yaml'), undefined);
    put('late.yaml', HEAD);
    expect((await lastValueFrom(files$)).layers).toHaveLength(1);
  });

  it("takes paths from the file's own folder", async () => {
    const config = put('kubelet.yaml', `${HEAD}staticPodPath: manifests\npodLogsDir: /logs\nresolvConf: ""\n`);
    const { layers } = await lastValueFrom(readConfigFiles(config, undefined));
    expect(layers[0]?.value).toMatchObject({
      staticPodPath: join(folder, 'manifests'),
      podLogsDir: '/logs',
      resolvConf: '',
    });
  });

  it('follows links to drop-ins and to folders', async () => {
    mkdirSync(join(folder, 'd'));
    symlinkSync(put('elsewhere/real', HEAD), join(folder, 'd/link.conf'));
    put('more/x.conf', HEAD);
    symlinkSync(join(folder, 'more'), join(folder, 'd/sub'));
    const { layers } = await lastValueFrom(readConfigFiles(undefined, join(folder, 'd')));
    expect(layers.map(({ origin }) => origin.slice(folder.length))).toEqual(['/d/link.conf', '/d/sub/x.conf']);
  });

  it('tells of every file that cannot be read', async () => {
    const broken = put('broken.yaml', `${HEAD}maxPods: [1\n`);
    put('d/two.conf', `${HEAD}---\n${HEAD}`);
    mkdirSync(join(folder, 'd/deep'));
    symlinkSync('/nowhere/at/all', join(folder, 'd/deep/gone.conf'));
    const { layers, problems } = await lastValueFrom(readConfigFiles(broken, join(folder, 'd')));
    const texts = problems.map((problem) => describeProblem(problem).slice(folder.length));
    expect(layers).toEqual([]);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toMatch(/^\/d\/deep: cannot be read: ENOENT/);
    expect(texts[1]).toMatch(/^\/broken\.yaml:\d+:\d+: /);
    expect(texts[2]).toMatch(/^\/d\/two\.conf:4:1: must hold one document, not several$/);
  });

  it('tells of a missing file and a missing folder', async () => {
    const { problems } = await lastValueFrom(readConfigFiles(join(folder, 'no.yaml'), join(folder, 'none')));
    expect(problems.map(({ origin, message }) => [origin.slice(folder.length), message.slice(0, 23)])).toEqual([
      ['/none', 'cannot be read: ENOENT:'],
      ['/no.yaml', 'cannot be read: ENOENT:'],
    ]);
  });
});
