#!/usr/bin/env node
// A day of 50 pods by `rxlet simulate`: how long that takes. `--cpu-prof` writes a profile into this folder, `--for 1h` is shorter.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Seconds that it may take (issue E). */
const MOST = 10;

const pod = (name, spec) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
const container = (name, more = {}) => ({ name, image: 'busybox:1.36', ...more });
const get = { httpGet: { path: '/', port: 8080 }, periodSeconds: 10 };
const many = (count, make) => Array.from({ length: count }, (_each, index) => make(index));

const pods = [
  ...many(25, (n) => pod(`web-${n}`, { containers: [container('web', { livenessProbe: get, readinessProbe: get })] })),
  ...many(5, (n) =>
    pod(`checked-${n}`, {
      containers: [container('app', { livenessProbe: { exec: { command: ['check'] }, periodSeconds: 10 } })],
    }),
  ),
  ...many(5, (n) => pod(`crash-${n}`, { containers: [container('app')] })),
  ...many(5, (n) => pod(`once-${n}`, { restartPolicy: 'OnFailure', containers: [container('job')] })),
  ...many(10, (n) =>
    pod(`sidecar-${n}`, {
      initContainers: [container('proxy', { restartPolicy: 'Always', readinessProbe: get })],
      containers: [container('app', { readinessProbe: get })],
    }),
  ),
];

const script = {
  containers: [
    ...many(5, (n) => ({ pod: `crash-${n}`, exits: { after: '20s', spread: '30s', code: 1 } })),
    ...many(5, (n) => ({
      pod: `once-${n}`,
      exits: [
        { after: '1h', code: 1 },
        { after: `${n + 1}h`, code: 0 },
      ],
    })),
    { pod: 'web-0', probes: [{ probe: 'liveness', from: '6h', to: '6h1m' }] },
  ],
  steps: [
    { at: '8h', restartRuntime: { for: '20s' } },
    { at: '12h', crashAgent: { for: '5s' } },
    { at: '16h', editManifest: { file: 'web-1.yaml', replace: 'busybox:1.36', with: 'busybox:1.37' } },
  ],
  expect: [
    { pod: 'web-0', ready: true, restarts: { atLeast: 1 } },
    { pod: 'crash-0', restarts: { atLeast: 200 } },
    { pod: 'once-0', phase: 'Succeeded' },
    { pod: 'sidecar-0', ready: true, restarts: 0 },
  ],
};

const { values } = parseArgs({ options: { for: { type: 'string', default: '24h' }, 'cpu-prof': { type: 'boolean' } } });

const folder = mkdtempSync(join(tmpdir(), 'rxlet-day-'));
try {
  for (const one of pods) writeFileSync(join(folder, `${one.metadata.name}.yaml`), JSON.stringify(one));
  const scriptFile = join(folder, 'script');
  writeFileSync(scriptFile, JSON.stringify(script));
  const profile = values['cpu-prof'] ? ['--cpu-prof', '--cpu-prof-dir=bench'] : [];
  const begun = performance.now();
  const args = ['dist/main.js', 'simulate', folder, '--script', scriptFile, '--for', values.for, '-o', 'json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...profile, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  const seconds = (performance.now() - begun) / 1_000;
  // A shorter day does not come to what a whole one is expected to come to.
  if (status !== 0 && (status !== 1 || values.for === '24h')) throw new Error(`ended with ${status}: ${stderr}`);
  const { calls, pods: told } = JSON.parse(stdout);
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
  const report = {
    time: values.for,
    pods: pods.length,
    seconds: Number(seconds.toFixed(2)),
    calls: sum(Object.values(calls)),
    events: sum(told.flatMap(({ events }) => events.map(({ count }) => count))),
    restarts: sum(told.map(({ restarts }) => restarts)),
    states: sum(told.map(({ states }) => states.length)),
  };
  console.log(JSON.stringify(report));
  if (seconds > MOST) console.log(`slower than ${MOST} s`);
  process.exitCode = seconds > MOST ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true });
}
