#!/usr/bin/env node
// What many pods cost: the very agent on a simulated node, in virtual time.
//   npm run bench:scale -- [--pods 1000,5000] [--churn 10000] [--json FILE] [--cpu-prof]
// Prints a table; figures are per unit, so what grows linearly has a ratio of about one.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const home = join(dirname(fileURLToPath(import.meta.url)), '..');
const outfile = join(home, 'node_modules/.cache/scale/run.mjs');
await build({
  entryPoints: [join(home, 'test/scale/run.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  packages: 'external',
  footer: { js: 'process.exitCode = main(process.argv.slice(2));' },
  logLevel: 'warning',
});
const args = process.argv.slice(2);
const profile = args.includes('--cpu-prof') ? ['--cpu-prof'] : [];
const rest = args.filter((arg) => arg !== '--cpu-prof');
const flags = ['--expose-gc', '--max-old-space-size=6144', ...profile];
process.exitCode = spawnSync(process.execPath, [...flags, outfile, ...rest], { stdio: 'inherit' }).status ?? 1;
