#!/usr/bin/env node
// Becomes dist/main.js, which is `rxlet`. Starts the bundle beside it from the code that V8 made of it at the build,
// which saves half of the start. Another V8 refuses that code; newer ones of Node then make and keep their own.
'use strict';
const { readFileSync } = require('node:fs');
const module_ = require('node:module');
const { setFlagsFromString } = require('node:v8');
const { constants, Script } = require('node:vm');

const bundle = `${__dirname}/rxlet.js`;
const script = compile();
// The agent runs a little of everything: to compile a function anew as soon as it has run for a moment, as V8 does, takes a
// fifth of all its processor time while pods start. What is really hot is compiled all the same, some seconds later. Newer
// ones than that of Node 20 first have a cheaper compiler, and no such setting.
if (process.argv[2] === 'run' && process.versions.v8.startsWith('11.'))
  setFlagsFromString('--interrupt-budget=2000000');
if (script.cachedDataRejected === false) {
  const exported = { exports: {} };
  script.runInThisContext()(exported.exports, module_.createRequire(bundle), exported, bundle, __dirname);
} else {
  module_.enableCompileCache?.();
  require(bundle);
}

function compile() {
  let cachedData;
  try {
    cachedData = readFileSync(`${bundle}.cache`);
  } catch {
    return {};
  }
  return new Script(module_.wrap(readFileSync(bundle, 'latin1')), {
    filename: bundle,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}
