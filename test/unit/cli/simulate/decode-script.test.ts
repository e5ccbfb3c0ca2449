import { describe, expect, it } from 'vitest';
import { decodeScript } from '../../../../src/cli/simulate/decode-script.ts';
import { describeProblem } from '../../../../src/model/desired.ts';

const FILES: Readonly<Record<string, string>> = { 'web.yaml': 'kind: Pod' };

function decode(text: string): ReturnType<typeof decodeScript> {
  return decodeScript(text, 's', (file) => {
    const content = FILES[file];
    return content === undefined ? { unreadable: 'cannot be read' } : { text: content };
  });
}

const problemsOf = (text: string): readonly string[] => decode(text).problems.map(describeProblem);

describe('decodeScript', () => {
  it('takes a script in which nothing is said for a node on which nothing goes wrong', () => {
    const { script, problems } = decode('');
    expect(problems).toEqual([]);
    expect(script).toEqual({
      node: { cpus: 4, memory: 16 * 2 ** 30, disk: 100 * 2 ** 30, events: true },
      images: {},
      containers: [],
      dice: {},
      steps: [],
      expectations: [],
    });
  });

  it('reads durations, amounts and lists in their place', () => {
    const { script, problems } = decode(`
for: 24h
seed: 7
node: {cpu: 2, memory: 512Mi, events: false}
images:
  busybox: {present: true}
  app:1: {pullTime: 3s, pullError: no such image, size: 4Mi}
containers:
- pod: web
  exits: {after: 5s, code: 1, spread: 1m}
  sigterm: {ignored: true}
  probes: [{probe: liveness, from: 10m, to: 11m, answer: timeout}]
  exec: [{command: [cat, /x], exitCode: 2, stderr: none}]
- exits: [{after: 1s}, {after: 2s, code: 137, reason: OOMKilled}]
  sigterm: {after: 2s, code: 3}
dice: {fail: 0.1, late: 0.2}
`);
    expect(problems).toEqual([]);
    expect(script).toMatchObject({
      for: 24 * 3_600_000,
      seed: 7,
      node: { cpus: 2, memory: 512 * 2 ** 20, events: false },
      images: {
        busybox: { present: true },
        'app:1': { pullTime: 3_000, pullError: 'no such image', size: 4 * 2 ** 20 },
      },
      containers: [
        {
          pod: 'web',
          exits: { each: { after: 5_000, code: 1, spread: 60_000 } },
          onTerm: 'ignored',
          probes: [{ probe: 'liveness', from: 600_000, to: 660_000, answer: 'timeout' }],
          exec: [{ command: ['cat', '/x'], exitCode: 2, stderr: 'none', after: 0 }],
        },
        {
          exits: {
            list: [
              { after: 1_000, code: 0, spread: 0 },
              { after: 2_000, code: 137, reason: 'OOMKilled' },
            ],
          },
          onTerm: { after: 2_000, code: 3 },
        },
      ],
      dice: { fail: 0.1, late: 0.2 },
    });
  });

  it.each([
    ['addManifest: {file: web.yaml}', { do: 'addManifest', as: 'web.yaml', content: 'kind: Pod' }],
    ['addManifest: {file: web.yaml, as: b.yaml}', { do: 'addManifest', as: 'b.yaml' }],
    ['editManifest: {file: a.yaml, replace: x, with: z}', { do: 'editManifest', replace: 'x', with: 'z' }],
    ['removeManifest: {file: a.yaml}', { do: 'removeManifest', file: 'a.yaml' }],
    ['killContainer: {pod: a, container: c}', { do: 'exitContainer', code: 137, pod: 'a', container: 'c' }],
    ['exitContainer: {pod: a, code: 3, reason: Odd}', { do: 'exitContainer', code: 3, reason: 'Odd' }],
    ['killSandbox: {pod: a, namespace: ns}', { do: 'killSandbox', pod: 'a', namespace: 'ns' }],
    ['stopPod: {pod: a}', { do: 'commandPod', verb: 'stop' }],
    ['startPod: {pod: a}', { do: 'commandPod', verb: 'start' }],
    ['restartPod: {pod: a}', { do: 'commandPod', verb: 'restart' }],
    ['fillVolume: {pod: a, volume: v, size: 10Mi}', { do: 'fillVolume', volume: 'v', size: 10 * 2 ** 20 }],
    ['restartRuntime: {for: 10s}', { do: 'restartRuntime', for: 10_000, loseSandboxes: false }],
    ['reboot: {}', { do: 'reboot' }],
    ['cutEvents: {}', { do: 'cutEvents' }],
    ['crashAgent: {for: 2s}', { do: 'crashAgent', for: 2_000 }],
    ['diskFull: {for: 1m}', { do: 'disk', state: 'full', for: 60_000 }],
    ['diskReadOnly: {}', { do: 'disk', state: 'readOnly' }],
    ['networkDown: {for: 1m}', { do: 'networkDown', for: 60_000 }],
    ['setClock: {by: -1h}', { do: 'setClock', by: -3_600_000 }],
    [
      'fault: {calls: [PullImage], kind: fail, error: unavailable, message: m, times: 2, for: 1m, share: 0.5, pod: a}',
      {
        do: 'fault',
        calls: ['PullImage'],
        fault: { kind: 'fail', error: 'unavailable', message: 'm' },
        times: 2,
        for: 60_000,
        share: 0.5,
        pod: 'a',
      },
    ],
    ['fault: {kind: slow, by: 3s}', { calls: [], fault: { kind: 'slow', by: 3_000 }, share: 1 }],
    ['fault: {kind: late, by: 3s}', { fault: { kind: 'late', by: 3_000 } }],
    ['fault: {kind: linger, by: 3s}', { fault: { kind: 'linger', by: 3_000 } }],
    ['fault: {kind: hang}', { fault: { kind: 'hang' } }],
    ['fault: {kind: loseAnswer, error: deadline}', { fault: { kind: 'loseAnswer', error: 'deadline' } }],
    ['fault: {calls: [files.writeFile], kind: fail, code: ENOSPC}', { fault: { kind: 'fail', code: 'ENOSPC' } }],
  ])('reads the step %s', (step, act) => {
    const { script, problems } = decode(`steps:\n- at: 10m\n  ${step}\n`);
    expect(problems).toEqual([]);
    expect(script.steps).toHaveLength(1);
    expect(script.steps[0]).toMatchObject({ at: 600_000, position: { line: 2 }, ...act });
  });

  const ENDLESS = Number.POSITIVE_INFINITY;

  it.each([
    ['{pod: a, phase: Running, ready: true}', { kind: 'pod', pod: 'a', phase: 'Running', ready: true }],
    ['{pod: a, restarts: 3}', { kind: 'pod', restarts: { atLeast: 3, atMost: 3 } }],
    ['{pod: a, restarts: {atLeast: 3}}', { kind: 'pod', restarts: { atLeast: 3, atMost: ENDLESS } }],
    ['{pod: a, exists: false, at: 5m}', { kind: 'pod', exists: false, at: 300_000 }],
    ['{pod: a, container: c, state: waiting, reason: X}', { kind: 'container', state: 'waiting', reason: 'X' }],
    ['{pod: a, container: c, exitCode: 3}', { kind: 'container', exitCode: 3 }],
    ['{problem: broken}', { kind: 'problem', text: 'broken', times: { atLeast: 1, atMost: ENDLESS } }],
    [
      '{event: BackOff, pod: a, times: {atMost: 4}}',
      { kind: 'event', reason: 'BackOff', times: { atLeast: 0, atMost: 4 } },
    ],
    ['{call: PullImage, times: 1}', { kind: 'call', call: 'PullImage', times: { atLeast: 1, atMost: 1 } }],
  ])('reads the expectation %s', (text, claim) => {
    const { script, problems } = decode(`expect:\n- ${text}\n`);
    expect(problems).toEqual([]);
    expect(script.expectations).toMatchObject([claim]);
  });

  it.each([
    ['is no YAML', 'a: [', /^s:1:\d+: /],
    ['several documents', 'for: 1h\n---\nfor: 2h', 's:3:1: must hold one document, not several'],
    ['a list', '- for: 1h', 's:1:1: must be a map of fields, not a list'],
    ['an unknown field', 'fro: 1h', 's:1:1: fro: unknown field, did you mean for?'],
    ['no duration', 'for: soon', 's:1:1: for: must be a duration, for example "1m30s", not the string "soon"'],
    ['a time before the beginning', 'for: -1h', 's:1:1: for: must not be negative'],
    ['a seed in words', 'seed: one', 's:1:1: seed: must be a whole number, not the string "one"'],
    ['a node without cores', 'node: {cpu: 0}', 's:1:8: node.cpu: must be at least 1'],
    ['an unknown field of an image', 'images:\n  a: {pull: 1s}', 's:2:7: images.a.pull: unknown field'],
    [
      'exits that are a number',
      'containers:\n- exits: 3',
      's:2:3: containers[0].exits: must be a map of after and code, or a list of such maps',
    ],
    [
      'an unknown field of an exit',
      'containers:\n- exits: [{after: 1s, cod: 1}]',
      's:2:23: containers[0].exits[0].cod: unknown field, did you mean code?',
    ],
    [
      'no exit code',
      'containers:\n- exits: {code: 300}',
      's:2:11: containers[0].exits.code: must be an exit code from 0 to 255',
    ],
    [
      'an unknown probe',
      'containers:\n- probes: [{probe: livenes}]',
      's:2:13: containers[0].probes[0].probe: "livenes" is not known here, did you mean liveness?',
    ],
    ['dice that are no probability', 'dice: {fail: 2}', 's:1:8: dice.fail: must be a probability from 0 to 1'],
    ['dice beyond certainty', 'dice: {fail: 0.6, hang: 0.6}', 's:1:1: dice: must be at most 1 together'],
    ['a step without its time', 'steps:\n- reboot: {}', 's:2:3: steps[0].at: must be given, for example "10m"'],
    ['a step that does nothing', 'steps:\n- at: 1m', /^s:2:3: steps\[0\]: must say what happens: one of addManifest, /],
    [
      'a step that does two things',
      'steps:\n- {at: 1m, reboot: {}, cutEvents: {}}',
      's:2:24: steps[0].cutEvents: a step does one thing, and this one does reboot already',
    ],
    ['an unknown step', 'steps:\n- {at: 1m, rebot: {}}', 's:2:12: steps[0].rebot: unknown field, did you mean reboot?'],
    [
      'a manifest that is not there',
      'steps:\n- {at: 1m, addManifest: {file: no.yaml}}',
      's:2:26: steps[0].addManifest.file: cannot be read',
    ],
    [
      'nobody to kill',
      'steps:\n- {at: 1m, killContainer: {container: c}}',
      's:2:12: steps[0].killContainer.pod: must be given',
    ],
    [
      'no size',
      'steps:\n- {at: 1m, fillVolume: {pod: a, volume: v}}',
      's:2:12: steps[0].fillVolume.size: must be given, for example 10Mi',
    ],
    [
      'too much to write',
      'steps:\n- {at: 1m, fillVolume: {pod: a, volume: v, size: 1Gi}}',
      's:2:44: steps[0].fillVolume.size: must be at most 64Mi: it is kept in memory',
    ],
    [
      'an unknown call',
      'steps:\n- {at: 1m, fault: {calls: [PulImage], kind: hang}}',
      's:2:28: steps[0].fault.calls[0]: "PulImage" is not known here, did you mean PullImage?',
    ],
    [
      'an unknown kind of fault',
      'steps:\n- {at: 1m, fault: {kind: hand}}',
      's:2:20: steps[0].fault.kind: "hand" is not known here, did you mean hang?',
    ],
    [
      'a fault of no kind',
      'steps:\n- {at: 1m, fault: {calls: [PullImage]}}',
      's:2:12: steps[0].fault.kind: must be given',
    ],
    [
      'a slow call without a time',
      'steps:\n- {at: 1m, fault: {kind: slow}}',
      's:2:12: steps[0].fault.by: must be given, for example "10m"',
    ],
    [
      'an unknown error',
      'steps:\n- {at: 1m, fault: {kind: fail, error: unavailble}}',
      's:2:32: steps[0].fault.error: "unavailble" is not known here, did you mean unavailable?',
    ],
    [
      'a fault of no calls',
      'steps:\n- {at: 1m, fault: {kind: hang, times: 0}}',
      's:2:32: steps[0].fault.times: must be at least 1',
    ],
    [
      'a fault that never happens',
      'steps:\n- {at: 1m, fault: {kind: hang, share: 0}}',
      's:2:32: steps[0].fault.share: must be above 0 and at most 1',
    ],
    [
      'an expectation of nothing',
      'expect:\n- {pod: a}',
      's:2:3: expect[0]: must say what is expected: one of exists, phase, ready, restarts',
    ],
    ['an expectation of nobody', 'expect:\n- {phase: Running}', 's:2:3: expect[0].pod: must be given'],
    [
      'an unknown phase',
      'expect:\n- {pod: a, phase: Runing}',
      's:2:12: expect[0].phase: "Runing" is not known here, did you mean Running?',
    ],
    [
      'a pod with an exit code',
      'expect:\n- {pod: a, exitCode: 1}',
      's:2:12: expect[0].exitCode: says nothing about a pod; there are pod, namespace, exists, phase, ready, restarts',
    ],
    [
      'restarts in words',
      'expect:\n- {pod: a, restarts: some}',
      's:2:12: expect[0].restarts: must be a whole number, or a map of atLeast and atMost',
    ],
    [
      'an unknown bound',
      'expect:\n- {pod: a, restarts: {atleast: 1}}',
      's:2:23: expect[0].restarts.atleast: unknown field, did you mean atLeast?',
    ],
    [
      'an expected call that is none',
      'expect:\n- {call: pullImage}',
      's:2:4: expect[0].call: "pullImage" is not known here, did you mean PullImage?',
    ],
  ])('refuses %s, with line, column and field', (_name, text, problem) => {
    const [first] = problemsOf(text);
    if (typeof problem === 'string') expect(first).toBe(problem);
    else expect(first).toMatch(problem);
  });

  it('tells all mistakes at once, in the order of the script', () => {
    expect(problemsOf('steps:\n- {at: 1m, rebot: {}}\nexpect:\n- {pod: 3}')).toHaveLength(2);
  });
});
