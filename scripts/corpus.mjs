#!/usr/bin/env node
// Compares rxlet with what the kubelet did in recorded cases.
//   npm run corpus -- test/corpus/cases [--only group/case] [--mode requests|statuses|timelines] [--summary] [--json FILE]
//   npm run corpus -- test/corpus/cases --mode real [--runtime 1.6|2] [--only group/case] [--at-once N] [--limit SECONDS]
// The first lives through them in virtual time, the second (as root) on a containerd of a private node made like the one
// of the recording. Differences are told as `path: expected / got`. Exits with 0 however many there are, and with
// another code where the runner itself broke.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  strict: false,
  allowPositionals: true,
  options: { mode: { type: 'string' }, runtime: { type: 'string', default: '1.6' } },
});
if (values.mode === 'real' && process.env.RXLET_NODE === undefined) process.exitCode = onPrivateNode();
else process.exitCode = await (await bundled()).main(args);

/** The same command again, inside a private node. */
function onPrivateNode() {
  const step = (command, parameters) =>
    spawnSync(command, parameters, { cwd: process.cwd(), stdio: 'inherit' }).status ?? 1;
  const code = step('npm', ['--prefix', home, 'run', '-s', 'build']);
  if (code !== 0) return code;
  const lib = join(home, 'scripts/lib');
  const node = ['--runtime', values.runtime, '--name', 'corpus', '--', join(lib, 'corpus-node')];
  return step(join(lib, 'private-node'), [...node, process.execPath, fileURLToPath(import.meta.url), ...args]);
}

async function bundled() {
  const { build } = await import('esbuild');
  // Of its own: others may be at it, also on nodes with the same process ids.
  const outfile = join(home, `node_modules/.cache/corpus/run-${randomUUID()}.mjs`);
  await build({
    entryPoints: [join(home, 'test/corpus/run.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'inline',
    packages: 'external',
    logLevel: 'warning',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}
