import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, materialize, of, toArray, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliError } from '../../../../src/cli/cli-error.ts';
import type { PlanOptions } from '../../../../src/cli/command.ts';
import { plan } from '../../../../src/cli/commands/plan.ts';
import { fullNameOf, type Pod } from '../../../../src/model/pod.ts';
import { localApi } from '../../../../src/server/local-api.ts';
import { planRoute } from '../../../../src/server/plan-route.ts';
import { decodeManifest } from '../../../../src/sources/manifest/decode-manifest.ts';
import type { Entry } from '../../../../src/streams/book/pod-book.ts';

let folder = '';
let running: Subscription[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxlet-plan-'));
  mkdirSync(join(folder, 'next'));
  running = [];
});

afterEach(() => {
  for (const each of running) each.unsubscribe();
  rmSync(folder, { recursive: true });
});

function manifest(name: string, image = 'busybox:1.35'): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers:\n  - {name: app, image: ${image}}\n`;
}

function put(name: string, text: string): void {
  writeFileSync(join(folder, 'next', name), text);
}

/** A pod as the agent runs it that watches /manifests on the node n1. */
function runs(file: string, text: string): Entry {
  const origin = `/manifests/${file}`;
  const [pod] = decodeManifest(text, { origin, source: 'file', nodeName: 'n1' }).pods;
  if (!pod) throw new Error('no pod');
  const { uid, name, namespace } = pod.metadata;
  const known = { uid, of: { uid, name, namespace }, name: fullNameOf(pod), grace: 30, why: '' };
  return { ...known, phase: 'syncing', pod, waiting: new Map(), probes: new Map() };
}

function startAgent(entries: readonly Entry[], stopped: readonly Pod[] = []): Promise<unknown> {
  const ground = {
    nodeName: 'n1',
    manifests: '/manifests',
    rootDir: join(folder, 'root'),
    entries,
    stopped,
    facts: { runtimeName: 'containerd', hostIps: [], update: 'prepare' as const },
  };
  return new Promise((done, fail) => {
    const api$ = localApi({ socket: join(folder, 'sock'), routes: [planRoute(of(ground))] });
    running.push(api$.subscribe({ next: done, error: fail }));
  });
}

async function say(
  options: Partial<PlanOptions> = {},
): Promise<{ readonly out: string; readonly end: Pick<CliError, 'message' | 'exitCode'> | undefined }> {
  const all = {
    path: join(folder, 'next'),
    socket: join(folder, 'sock'),
    empty: false,
    format: 'text',
    ...options,
  } as const;
  const told = await lastValueFrom(plan(all, 'n1').pipe(materialize(), toArray()));
  const out = told.map((one) => (one.kind === 'N' ? one.value : '')).join('');
  return {
    out: out.replaceAll(`${folder}/`, ''),
    end: told.find((one) => one.kind === 'E')?.error as CliError | undefined,
  };
}

describe('plan', () => {
  it('compares a folder with what the agent runs, as if it were the folder that the agent watches', async () => {
    await startAgent([
      runs('web.yaml', manifest('web')),
      runs('db.yaml', manifest('db')),
      runs('old.yaml', manifest('old')),
    ]);
    put('web.yaml', manifest('web'));
    put('db.yaml', manifest('db', 'busybox:1.36'));
    put('new.yaml', manifest('new'));
    expect(await say()).toEqual({
      out: [
        '~ default/db-n1   replace  spec.containers[0].image changed',
        '+ default/new-n1  start    it is new',
        '- default/old-n1  stop     no source wants it any more',
        '  default/web-n1  stay',
        '1 replace, 1 start, 1 stop, 1 stay',
        '',
      ].join('\n'),
      end: expect.objectContaining({ exitCode: 1, message: '3 pods would change' }) as CliError,
    });
  });

  it('ends with 0 where nothing would change, and touches nothing', async () => {
    await startAgent([runs('web.yaml', manifest('web'))]);
    put('web.yaml', `# only a comment\n${manifest('web')}`);
    const before = readdirSync(folder, { recursive: true });
    expect(await say()).toEqual({ out: '  default/web-n1  stay\n1 stay\n', end: undefined });
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  });

  it('tells problems first, with the places of the files that were given, and ends with 2', async () => {
    await startAgent([]);
    put('web.yaml', manifest('web'));
    put('bad.yaml', 'kind: [');
    const { out, end } = await say();
    expect(out).toMatch(/^next\/bad\.yaml:\d+:\d+: .*\n\+ default\/web-n1 {2}start/);
    expect(end).toMatchObject({ exitCode: 2, message: '1 problem in the manifests' });
  });

  it('keeps, for a file that is broken, what the agent remembers of it', async () => {
    const web = runs('web.yaml', manifest('web'));
    mkdirSync(join(folder, 'root'));
    const owners = { [web.name]: { path: '/manifests/web.yaml', uid: web.uid } };
    const memory = { version: 1, files: { '/manifests/web.yaml': [web.pod] }, owners };
    writeFileSync(join(folder, 'root/manifests.json'), JSON.stringify(memory));
    await startAgent([web]);
    put('web.yaml', 'kind: [');
    expect((await say()).out).toContain('  default/web-n1  stay\n');
  });

  it('plans for an empty node without an agent, and in JSON', async () => {
    put('web.yaml', manifest('web'));
    const { out, end } = await say({ empty: true, format: 'json' });
    expect(JSON.parse(out)).toEqual({
      pods: [{ pod: 'default/web-n1', fate: 'start', why: 'it is new' }],
      problems: [],
    });
    expect(end).toMatchObject({ exitCode: 1 });
  });

  it('says what is missing: the agent, or the folder', async () => {
    put('web.yaml', manifest('web'));
    expect((await say()).end).toMatchObject({ exitCode: 4 });
    expect((await say({ empty: true, path: join(folder, 'nowhere') })).end).toMatchObject({ exitCode: 2 });
  });
});
