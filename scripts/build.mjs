#!/usr/bin/env node
// Builds `dist/main.js`, which is `rxlet`: one bundle for what every start needs, chunks for what only some commands need.
import { chmod, rm } from 'node:fs/promises';
import { build } from 'esbuild';

await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  legalComments: 'linked',
  minifySyntax: true,
  minifyWhitespace: true,
  // CommonJS dependencies (grpc-js) call require() for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod('dist/main.js', 0o755);
