// Writes dist/rxlet.js.cache: what V8 has compiled of the bundle by the time an agent has started, changed and ended a
// few pods. The runtime is a simulated one, and nothing is touched but a folder of its own.
'use strict';
const { spawn } = require('node:child_process');
const { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const fs = require('node:fs/promises');
const module_ = require('node:module');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { constants, Script } = require('node:vm');

/** Milliseconds that the simulated runtime gets to be there. */
const PATIENCE = 20_000;
/** Milliseconds between two changes: enough for the agent to be done with the one before, on most machines. */
const PAUSE = 1_000;

const bundle = path.resolve(__dirname, '../../dist/rxlet.js');
const folder = mkdtempSync(path.join(tmpdir(), 'rxlet-build-'));
const inside = (name) => path.join(folder, name);

async function work() {
  const runtime = spawn(process.execPath, [bundle, 'simulate', '--serve', `unix://${inside('cri.sock')}`]);
  try {
    await untilThere(inside('cri.sock'));
    const script = new Script(module_.wrap(readFileSync(bundle, 'latin1')), {
      filename: bundle,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    await liveThrough(script);
    writeFileSync(`${bundle}.cache`, script.createCachedData());
  } finally {
    runtime.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function liveThrough(script) {
  mkdirSync(inside('manifests'));
  write('a', 1);
  writeFileSync(inside('config.yaml'), CONFIG);
  process.argv = [
    ...[process.execPath, 'rxlet', 'run', '--config', inside('config.yaml'), '--hostname-override', 'here'],
    ...['--root-dir', inside('root'), '--socket', inside('rxlet.sock'), '--pod-manifest-path', inside('manifests')],
    ...['--container-runtime-endpoint', `unix://${inside('cri.sock')}`],
    ...['--image-service-endpoint', `unix://${inside('cri.sock')}`],
  ];
  process.stderr.write = () => true;
  const exported = { exports: {} };
  script.runInThisContext()(exported.exports, module_.createRequire(bundle), exported, bundle, path.dirname(bundle));
  await delay(PAUSE);
  write('b', 1);
  await delay(PAUSE);
  write('b', 2);
  await delay(PAUSE);
  rmSync(inside('manifests/a.yaml'));
  await delay(PAUSE);
}

function write(name, version) {
  writeFileSync(inside('.new'), pod(name, version));
  require('node:fs').renameSync(inside('.new'), inside(`manifests/${name}.yaml`));
}

function pod(name, version) {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: build}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: docker.io/library/busybox:1.35
    command: ["sleep", "3600"]
    env: [{name: V, value: "${version}"}]
`;
}

const CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
podLogsDir: ${inside('logs')}
healthzPort: 0
cgroupsPerQOS: false
enforceNodeAllocatable: []
`;

async function untilThere(file) {
  const end = performance.now() + PATIENCE;
  while (!existsSync(file)) {
    if (performance.now() > end) throw new Error(`the simulated runtime does not serve ${file}`);
    await delay(20);
  }
}

/** The links of containers are where every node has them; a build has no business there. */
function keepOut(place) {
  for (const name of ['mkdir', 'stat', 'lstat', 'readdir', 'symlink', 'readlink', 'unlink', 'rename', 'rm', 'rmdir']) {
    const call = fs[name];
    const elsewhere = (word) =>
      typeof word === 'string' && word.startsWith(place) ? inside(`links${word.slice(place.length)}`) : word;
    fs[name] = (...words) => call(...words.map(elsewhere));
  }
}

keepOut('/var/log/containers');
work().then(
  () => process.exit(0),
  (error) => {
    process.stdout.write(`no code cache was written: ${error.message}\n`);
    process.exit(1);
  },
);
