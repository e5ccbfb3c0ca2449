#!/usr/bin/env node
// Builds `dist/`, or the folder named: `main.js`, which is `rxlet`, and what it starts; see scripts/lib/launch.cjs for how.
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const outdir = process.argv[2] ?? 'dist';
await rm(outdir, { recursive: true, force: true });

/** @type {import('esbuild').BuildOptions} */
const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20.19',
  charset: 'ascii', // which V8 keeps in one byte a letter
  legalComments: 'linked',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
};
await Promise.all([
  build({
    ...common,
    entryPoints: { rxlet: 'src/main.ts' },
    outdir,
    // Its modern build, of which the unused parts can be left out; Node's condition names the one for ES5.
    alias: { rxjs: `${root}node_modules/rxjs/dist/esm/index.js` },
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl=require('node:url').pathToFileURL(__filename).href;" },
    plugins: [{ name: 'apart', setup: apart }],
  }),
  build({ ...common, entryPoints: { undici: 'undici' }, outdir }),
  mkdir(outdir, { recursive: true })
    .then(() => copyFile('scripts/lib/launch.cjs', `${outdir}/main.js`))
    .then(() => chmod(`${outdir}/main.js`, 0o755)),
]);
await writeFile(`${outdir}/package.json`, '{ "type": "commonjs" }\n');
// A build that is for tests is not worth the seconds. Without that code the bundle only starts more slowly.
if (outdir === 'dist') {
  await promisify(execFile)(process.execPath, ['scripts/lib/write-code-cache.cjs']).catch(({ stdout, message }) => {
    console.warn(stdout || message);
  });
}

/** Undici is as large as all the rest, and only sources over HTTP want it. */
function apart(/** @type {import('esbuild').PluginBuild} */ { onResolve }) {
  onResolve({ filter: /^undici$/ }, () => ({ path: './undici.js', external: true }));
}
