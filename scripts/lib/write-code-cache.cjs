// Writes dist/rxlet.js.cache: what V8 has compiled of the bundle by the time an agent has read its manifests.
'use strict';
const { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } = require('node:fs');
const module_ = require('node:module');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { constants, Script } = require('node:vm');

const bundle = path.resolve(__dirname, '../../dist/rxlet.js');
const script = new Script(module_.wrap(readFileSync(bundle, 'latin1')), {
  filename: bundle,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
const folder = mkdtempSync(path.join(tmpdir(), 'rxlet-build-'));
const manifests = path.join(folder, 'manifests');
mkdirSync(manifests);
process.argv = [
  ...[process.execPath, 'rxlet', 'run', '--root-dir', folder, '--socket', path.join(folder, 'rxlet.sock')],
  ...['--pod-manifest-path', manifests, '--container-runtime-endpoint', `unix://${folder}/no-runtime.sock`],
];
process.stderr.write = () => true;
const exported = { exports: {} };
script.runInThisContext()(exported.exports, module_.createRequire(bundle), exported, bundle, path.dirname(bundle));
setTimeout(() => {
  writeFileSync(`${bundle}.cache`, script.createCachedData());
  rmSync(folder, { recursive: true });
  process.exit(0);
}, 1500);
