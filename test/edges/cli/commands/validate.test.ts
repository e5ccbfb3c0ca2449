import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { firstValueFrom, materialize, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliError } from '../../../../src/cli/cli-error.ts';
import { validate } from '../../../../src/cli/commands/validate.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-validate-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

interface Said {
  readonly out: string;
  /** What went wrong, and the exit code. */
  readonly end: Pick<CliError, 'message' | 'exitCode'> | undefined;
}

function put(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function say(
  paths: readonly string[],
  { format = 'text', stdin = '' }: { readonly format?: 'text' | 'json'; readonly stdin?: string } = {},
): Promise<Said> {
  const ports = { nodeName: 'n1', stdin: () => Readable.from([stdin]) };
  const told = await firstValueFrom(validate({ paths, format }, ports).pipe(materialize(), toArray()));
  const out = told.map((one) => (one.kind === 'N' ? one.value : '')).join('');
  const end = told.find((one) => one.kind === 'E')?.error as CliError | undefined;
  return { out: out.replaceAll(`${folder}/`, ''), end };
}

function podNamed(name: string, rest = ''): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n  - name: app\n    image: busybox\n${rest}`;
}

describe('validate', () => {
  it('tells what each good file would run', async () => {
    put('a.yaml', `${podNamed('web')}\n---\n${podNamed('db')}`);
    put('b.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] }));
    put('notes.txt', 'not looked at');
    expect(await say([folder])).toEqual({
      out: 'a.yaml: good: default/web-n1, default/db-n1\nb.json: holds nothing\n',
      end: undefined,
    });
  });

  it('tells each problem with its place, its field and what was meant, and ends with 1', async () => {
    put('a.yaml', podNamed('web', '    imagePulPolicy: Always\n'));
    put('b.yaml', podNamed('db', '    imagePullPolicy: Allways\n'));
    put('c.yaml', podNamed('good'));
    const { out, end } = await say([folder]);
    expect(out.split('\n')).toEqual([
      'a.yaml:8:5: spec.containers[0].imagePulPolicy: unknown field, did you mean imagePullPolicy?',
      'b.yaml:8:5: spec.containers[0].imagePullPolicy: "Allways" must be one of Always, IfNotPresent, Never',
      'c.yaml: good: default/good-n1',
      '',
    ]);
    expect(end).toMatchObject({ exitCode: 1, message: '2 problems in 2 of 3 files' });
  });

  it('takes two files of one folder that claim the same pod for a mistake, but not two folders', async () => {
    mkdirSync(join(folder, 'one'));
    mkdirSync(join(folder, 'two'));
    const one = put('one/web.yaml', podNamed('web'));
    const two = put('two/web.yaml', podNamed('web'));
    expect((await say([join(folder, 'one'), join(folder, 'two')])).end).toBeUndefined();
    expect(await say([one, two])).toMatchObject({
      out: 'one/web.yaml: good: default/web-n1\ntwo/web.yaml:1:1: metadata.name: default/web-n1 already comes from one/web.yaml\n',
      end: { exitCode: 1, message: '1 problem in 1 of 2 files' },
    });
    expect((await say([one, one])).end).toBeUndefined();
  });

  it('reads a file that is named whatever its ending, and standard input', async () => {
    const odd = put('web.yaml.new', podNamed('web'));
    expect((await say([odd])).out).toBe('web.yaml.new: good: default/web-n1\n');
    expect((await say(['-'], { stdin: podNamed('web') })).out).toBe('stdin: good: default/web-n1\n');
    expect(await say(['-'], { stdin: 'kind: [' })).toMatchObject({ end: { exitCode: 1 } });
  });

  it('names what serves the pods, and shows nothing of what a Secret holds', async () => {
    const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter2}\n';
    put('a.yaml', `${secret}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {mode: fast}\n`);
    const { out, end } = await say([folder]);
    expect({ out, end }).toEqual({ out: 'a.yaml: good: Secret/default/db, ConfigMap/default/web\n', end: undefined });
    const json = (await say([folder], { format: 'json' })).out;
    expect(json).toContain('"kind": "Secret"');
    expect(json).not.toMatch(/hunter2|aHVudGVyMg/);
  });

  it('answers programs in JSON', async () => {
    const broken = put('a.yaml', podNamed('web', '    imagePulPolicy: Always\n'));
    const good = put('b.yaml', podNamed('db'));
    const { out, end } = await say([broken, good], { format: 'json' });
    expect(JSON.parse(out)).toEqual({
      valid: false,
      files: [
        {
          path: 'a.yaml',
          pods: [],
          objects: [],
          problems: [
            {
              line: 8,
              column: 5,
              field: 'spec.containers[0].imagePulPolicy',
              pod: 'default/web-n1',
              message: 'unknown field, did you mean imagePullPolicy?',
            },
          ],
        },
        { path: 'b.yaml', pods: [{ namespace: 'default', name: 'db-n1' }], objects: [], problems: [] },
      ],
    });
    expect(end).toMatchObject({ exitCode: 1 });
  });

  it('ends with 2 where there is nothing to check', async () => {
    expect(await say([join(folder, 'nowhere')])).toMatchObject({
      out: '',
      end: { exitCode: 2, message: expect.stringContaining('there is no such file or directory') as string },
    });
    expect(await say([folder])).toMatchObject({
      out: '',
      end: { exitCode: 2, message: `${folder}: no manifests in this folder` },
    });
  });

  it('takes a file that cannot be read as text for a problem', async () => {
    writeFileSync(join(folder, 'a.yaml'), Buffer.from([0xff, 0xfe, 0x41]));
    expect(await say([folder])).toMatchObject({ out: 'a.yaml: is no UTF-8 text\n', end: { exitCode: 1 } });
  });
});
