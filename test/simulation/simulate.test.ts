import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { decodeScript } from '../../src/cli/simulate/decode-script.ts';
import type { Outcome, PodOutcome } from '../../src/cli/simulate/outcome.ts';
import { simulateLife } from '../../src/cli/simulate/simulate-life.ts';
import { describeProblem } from '../../src/model/desired.ts';
import { RUN } from './harness.ts';

const MINUTE = 60_000;

/** A manifest of one container. */
function manifest(name: string, more = ''): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - name: main
    image: busybox:1.35
${more}`;
}

const WEB = manifest('web');
const CHECKED = manifest('web', '    livenessProbe: {exec: {command: [check]}, periodSeconds: 10}\n');
const ASKED = manifest('web', '    readinessProbe: {httpGet: {port: 80}, periodSeconds: 5}\n');

interface Setting {
  readonly files?: Readonly<Record<string, string>>;
  readonly span?: number;
  readonly seed?: number;
}

/** Lives through a script with the agent of `rxlet run`. */
async function simulate(
  text: string,
  { files = { 'web.yaml': WEB }, span = 10 * MINUTE, seed = 1 }: Setting = {},
): Promise<Outcome> {
  const { script, problems } = decodeScript(text, 's', () => ({ text: manifest('later') }));
  expect(problems.map(describeProblem)).toEqual([]);
  const manifests = Object.entries(files).map(([name, content]) => ({
    path: `/manifests/${name}`,
    inode: 0n,
    content: { text: content },
  }));
  const run = { ...RUN, nodeName: 'node', config: { ...RUN.config, staticPodPath: '/manifests' } };
  return lastValueFrom(simulateLife({ run, script, manifests, pathOf: (name) => `/manifests/${name}`, span, seed }));
}

function podOf({ pods }: Outcome, name = 'web-node'): PodOutcome {
  const found = pods.find((pod) => pod.name === name);
  if (!found) throw new Error(`there is no pod ${name}`);
  return found;
}

const unmet = ({ expectations }: Outcome): readonly string[] =>
  expectations.filter(({ isMet }) => !isMet).map(({ text, found = '' }) => `${text}: ${found}`);

describe('a simulated node without a script', () => {
  it('runs what the manifests want, with problems of the others told by file, line and field', async () => {
    const outcome = await simulate('', { files: { 'web.yaml': WEB, 'bad.yaml': 'kind: Pod\nspec: 3\n' } });
    expect(podOf(outcome)).toMatchObject({ phase: 'Running', ready: true, restarts: 0 });
    expect(outcome.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^\/manifests\/bad\.yaml:1:1: apiVersion: /),
    ]);
    expect(outcome.seconds).toBe(600);
    expect(outcome.calls['RunPodSandbox']).toBe(1);
  });

  it('refuses pods that do not fit', async () => {
    const big = manifest('web', '    resources: {requests: {cpu: "3"}}\n');
    const outcome = await simulate('node: {cpu: 2}', { files: { 'web.yaml': big } });
    expect(podOf(outcome)).toMatchObject({ phase: 'Failed' });
    expect(podOf(outcome).note).toMatch(/cpu/);
    expect(podOf(outcome).states.map(({ state }) => state)).toContain('refused');
  });
});

describe('what a script says of containers', () => {
  it('an exit at each start is a crash loop, whose waits grow', async () => {
    const outcome = await simulate('containers: [{exits: {after: 5s, code: 3}}]', { span: 12 * MINUTE });
    const { backOffs, ends, restarts } = podOf(outcome);
    const waits = backOffs.flatMap(({ from, to }) => (to === undefined ? [] : [Math.round(to - from)]));
    expect(waits.slice(0, 5)).toEqual([10, 20, 40, 80, 160]);
    expect(ends.length).toBeGreaterThan(restarts - 1);
    expect(new Set(ends.map(({ exitCode }) => exitCode))).toEqual(new Set([3]));
  });

  it('a list of exits is about one instance after the other, and what comes then runs on', async () => {
    const outcome = await simulate(
      'containers: [{exits: [{after: 5s, code: 1}, {after: 7s, code: 137, reason: OOMKilled}]}]',
    );
    expect(podOf(outcome).ends.map(({ exitCode, reason }) => `${exitCode} ${reason}`)).toEqual([
      '1 Error',
      '137 OOMKilled',
    ]);
    expect(podOf(outcome)).toMatchObject({ ready: true, restarts: 2 });
  });

  it('a rule holds for the containers that it names only, and the first one that fits', async () => {
    const outcome = await simulate('containers: [{pod: web, exits: {after: 1h}}, {exits: [{after: 5s, code: 1}]}]', {
      files: { 'web.yaml': WEB, 'b.yaml': manifest('b') },
    });
    expect(podOf(outcome).restarts).toBe(0);
    expect(podOf(outcome, 'b-node').restarts).toBe(1);
  });

  it('a process that ignores SIGTERM is killed when its grace is over', async () => {
    const outcome = await simulate(
      'containers: [{sigterm: {ignored: true}}]\nsteps: [{at: 1m, restartPod: {pod: web}}]',
    );
    expect(podOf(outcome).ends).toMatchObject([{ exitCode: 137 }]);
    expect(podOf(outcome).ends[0]?.at).toBeCloseTo(62, 0);
  });

  it('probes that fail for a while restart what they are about, and make it not ready', async () => {
    const failing = 'containers: [{probes: [{probe: liveness, from: 2m, to: 2m30s, output: gone}]}]';
    expect(podOf(await simulate(failing, { files: { 'web.yaml': CHECKED } }))).toMatchObject({
      restarts: 1,
      ready: true,
    });

    const slow = await simulate('containers: [{probes: [{probe: readiness, toAge: 1m}]}]', {
      files: { 'web.yaml': ASKED },
    });
    const ready = podOf(slow).states.find(({ state }) => state === 'ready');
    expect(ready?.at).toBeGreaterThan(60);
    expect(ready?.at).toBeLessThan(70);
  });

  it('probes without an answer time out, and over the network nobody answers for what does not run', async () => {
    const outcome = await simulate(
      'containers: [{probes: [{from: 2m, to: 3m, answer: timeout}]}]\nexpect: [{event: Unhealthy, pod: web}]',
      { files: { 'web.yaml': ASKED } },
    );
    expect(unmet(outcome)).toEqual([]);
    expect(podOf(outcome).states.filter(({ state }) => state === 'running').length).toBeGreaterThan(0);
  });

  it('commands answer what the script says', async () => {
    const outcome = await simulate('containers: [{exec: [{command: [check], exitCode: 1}]}]', {
      files: { 'web.yaml': CHECKED },
    });
    expect(podOf(outcome).restarts).toBeGreaterThan(3);
  });

  it('what cannot be started, or pulled, waits and says why', async () => {
    const start = await simulate('containers: [{startError: no such file}]', { span: MINUTE });
    expect(podOf(start).ready).toBe(false);
    expect(podOf(start).events.map(({ reason }) => reason)).toContain('Failed');

    const pull = await simulate('images: {"busybox:1.35": {pullError: no such image}}', { span: 5 * MINUTE });
    expect(podOf(pull).backOffs[0]).toMatchObject({ reason: 'ImagePullBackOff' });
    expect(podOf(pull)).toMatchObject({ phase: 'Pending', ready: false });
  });
});

describe('what happens by the steps of a script', () => {
  it('manifests come, change and go', async () => {
    const outcome = await simulate(`
steps:
- {at: 1m, addManifest: {file: later.yaml}}
- {at: 2m, editManifest: {file: web.yaml, replace: 'busybox:1.35', with: 'busybox:1.36'}}
- {at: 3m, removeManifest: {file: later.yaml}}
- {at: 4m, editManifest: {file: web.yaml, replace: nothing, with: x}}
- {at: 4m, removeManifest: {file: no.yaml}}
expect:
- {at: 2m, pod: later, phase: Running}
- {pod: later, exists: false}
- {call: PullImage, times: 2}
`);
    expect(unmet(outcome)).toEqual([]);
    expect(podOf(outcome)).toMatchObject({ phase: 'Running', ready: true });
    expect(outcome.steps.map(({ problem }) => problem)).toEqual([
      undefined,
      undefined,
      undefined,
      'there is no "nothing" in web.yaml',
      'there is no manifest no.yaml',
    ]);
  });

  it('containers and sandboxes are killed, and come back', async () => {
    const outcome = await simulate(`
steps:
- {at: 1m, killContainer: {pod: web, container: main}}
- {at: 3m, exitContainer: {pod: web-node, code: 137, reason: OOMKilled}}
- {at: 5m, killSandbox: {pod: web}}
- {at: 6m, killContainer: {pod: nobody}}
`);
    expect(
      podOf(outcome)
        .ends.map(({ reason }) => reason)
        .slice(0, 2),
    ).toEqual(['Error', 'OOMKilled']);
    expect(podOf(outcome).calls['RunPodSandbox']).toBe(2);
    expect(podOf(outcome).ready).toBe(true);
    expect(outcome.steps[3]?.problem).toBe('no such container runs');
  });

  it('pods are stopped, started and restarted by hand, while there is an agent to hear it', async () => {
    const outcome = await simulate(`
steps:
- {at: 1m, stopPod: {pod: web}}
- {at: 3m, startPod: {pod: web}}
- {at: 5m, restartPod: {pod: web}}
- {at: 7m, crashAgent: {for: 1m}}
- {at: 7m30s, stopPod: {pod: web}}
expect:
- {at: 2m, call: StopPodSandbox, pod: web}
`);
    expect(unmet(outcome)).toEqual([]);
    expect(podOf(outcome).calls['RunPodSandbox']).toBe(3);
    expect(outcome.steps[4]?.problem).toBe('no agent runs');
    expect(outcome.agent).toMatchObject([{ to: 420 }, { from: 480 }]);
  });

  it('a pod that fills its volume is evicted, and begins anew', async () => {
    const limited = `${manifest('web', '    volumeMounts: [{name: v, mountPath: /v}]\n')}
  volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]
`;
    const outcome = await simulate(
      'steps: [{at: 1m, fillVolume: {pod: web, volume: v, size: 2Mi}}, {at: 1m, fillVolume: {pod: web, volume: w, size: 1}}]',
      { files: { 'web.yaml': limited } },
    );
    expect(podOf(outcome).events.map(({ reason }) => reason)).toContain('Evicted');
    expect(podOf(outcome).calls['RunPodSandbox']).toBe(2);
    expect(outcome.steps[1]?.problem).toBe('there is no emptyDir w on the node');
  });

  it('the runtime goes and comes back, with what it had or without', async () => {
    const kept = await simulate('steps: [{at: 2m, restartRuntime: {for: 30s}}]');
    expect(podOf(kept).starts).toHaveLength(1);
    const lost = await simulate('steps: [{at: 2m, restartRuntime: {for: 30s, loseSandboxes: true}}]');
    expect(podOf(lost).starts).toHaveLength(2);
    expect(podOf(lost)).toMatchObject({ ready: true });
    const booted = await simulate('steps: [{at: 2m, reboot: {}}, {at: 4m, cutEvents: {}}]');
    expect(podOf(booted).starts).toHaveLength(2);
  });

  it('an agent that crashes leaves its pods running, and the next one takes them over', async () => {
    const outcome = await simulate('steps: [{at: 2m, crashAgent: {for: 1m}}]');
    expect(podOf(outcome)).toMatchObject({ ready: true, restarts: 0 });
    expect(podOf(outcome).starts).toHaveLength(1);
    expect(podOf(outcome).states.map(({ state }) => state)).toEqual(['waiting', 'ready']);
  });

  it.each(['diskFull', 'diskReadOnly'])('nothing starts with %s, and everything once that is over', async (step) => {
    const outcome = await simulate(`
steps:
- {at: 0s, ${step}: {for: 2m}}
expect:
- {at: 1m59s, pod: web, ready: false}
- {pod: web, ready: true}
`);
    expect(unmet(outcome)).toEqual([]);
  });

  it('nothing starts while the network is down', async () => {
    const outcome = await simulate(`
steps: [{at: 0s, networkDown: {for: 2m}}]
expect: [{at: 1m59s, pod: web, ready: false}, {pod: web, ready: true}]
`);
    expect(unmet(outcome)).toEqual([]);
  });

  it('pods run on when somebody sets the clock', async () => {
    const outcome = await simulate('steps: [{at: 2m, setClock: {by: -1h}}, {at: 4m, setClock: {by: 2h}}]');
    expect(podOf(outcome)).toMatchObject({ ready: true, restarts: 0 });
    expect(outcome.seconds).toBe(600);
  });

  it('calls go wrong as often, as long and for whom the script says', async () => {
    const outcome = await simulate(
      `
steps:
- {at: 0s, fault: {calls: [PullImage], kind: fail, error: unavailable, times: 1}}
- {at: 0s, fault: {calls: [CreateContainer], kind: loseAnswer, pod: b, times: 1}}
- {at: 5m, fault: {kind: hang, for: 1m}}
`,
      { files: { 'web.yaml': WEB, 'b.yaml': manifest('b') } },
    );
    expect(podOf(outcome).calls['CreateContainer']).toBe(1);
    expect(outcome.calls['PullImage']).toBe(2);
    expect(outcome.pods.map(({ ready }) => ready)).toEqual([true, true]);
  });
});

describe('what a script expects', () => {
  it('is judged at its time, and what is otherwise is told', async () => {
    const outcome = await simulate(`
containers: [{exits: [{after: 1m, code: 1}]}]
expect:
- {at: 30s, pod: web, ready: true, restarts: 0, phase: Running}
- {pod: web, restarts: 1}
- {pod: web, restarts: {atMost: 0}}
- {pod: web, container: main, state: waiting, reason: CrashLoopBackOff}
- {pod: web, container: other, state: running}
- {pod: nobody, phase: Running}
- {pod: web, exists: false}
- {problem: nothing of that kind}
- {event: Started, pod: web, container: main, times: 2}
- {call: StartContainer, pod: web, times: {atMost: 1}}
`);
    expect(outcome.expectations.map(({ at }) => at)).toEqual([30, ...Array.from({ length: 9 }, () => 600)]);
    expect(unmet(outcome)).toEqual([
      'pod web: restarts 0: 1 restarts',
      'container main of web: state waiting, reason CrashLoopBackOff: state running, reason none',
      'container other of web: state running: there is none',
      'pod nobody: phase Running: there is none',
      'pod web does not exist: ',
      'problems with "nothing of that kind": at least 1: there were 0',
      'calls of StartContainer for web: at most 1: there were 2',
    ]);
  });
});

describe('the seed', () => {
  const DICE =
    'dice: {fail: 0.05, slow: 0.1, loseAnswer: 0.02}\ncontainers: [{exits: {after: 20s, spread: 1m, code: 1}}]';

  it('gives the same run for the same seed to the bit, and another one for another', async () => {
    const [one, same, other] = [await simulate(DICE), await simulate(DICE), await simulate(DICE, { seed: 2 })];
    expect(JSON.stringify(same)).toBe(JSON.stringify(one));
    expect(JSON.stringify({ ...other, seed: 1 })).not.toBe(JSON.stringify(one));
  });
});
