#!/usr/bin/env node
// Compares rxlet with what the kubelet did in recorded cases.
//   npm run corpus -- test/corpus/cases [--only group/case] [--mode requests|statuses|timelines] [--summary] [--json FILE]
// Differences are told as `path: expected / got`. Exits with 0 however many there are, and with another code where the
// runner itself broke.
import { join, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const outfile = join(home, 'node_modules/.cache/corpus/run.mjs');
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
const { main } = await import(pathToFileURL(outfile).href);
process.exitCode = main(process.argv.slice(2));
