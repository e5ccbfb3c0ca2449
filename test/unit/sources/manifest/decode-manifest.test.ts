import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../../../src/model/desired.ts';
import { decodeManifest, type DecodedManifest } from '../../../../src/sources/manifest/decode-manifest.ts';

function decode(text: string, allowUnsupported = false): DecodedManifest {
  return decodeManifest(text, { origin: '/m/x.yaml', source: 'file', nodeName: 'n1', allowUnsupported });
}

const names = ({ pods }: DecodedManifest): readonly string[] =>
  pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
const problems = (decoded: DecodedManifest): readonly string[] => decoded.problems.map(describeProblem);

/** A manifest in one line, as many as there are names. */
function manifest(...podNames: readonly string[]): string {
  return podNames
    .map(
      (name) =>
        `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: main, image: busybox}]}\n`,
    )
    .join('---\n');
}

function withContainer(lines: string): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: main\n    image: busybox\n${lines}`;
}

describe('decodeManifest', () => {
  it('makes a whole pod of a bare one', () => {
    const { pods, problems: none } = decode(manifest('web'));
    expect(none).toEqual([]);
    expect(pods[0]).toMatchObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web-n1', namespace: 'default', annotations: { 'kubernetes.io/config.source': 'file' } },
      spec: { nodeName: 'n1', restartPolicy: 'Always', containers: [{ name: 'main', imagePullPolicy: 'Always' }] },
    });
    expect(pods[0]).not.toHaveProperty('status');
  });

  it.each([
    [
      'beside the spec',
      'apiVersion: v1\nkind: Pod\nrestartPolicy: Never\nmetadata: {name: a}\nspec: {containers: [{name: m, image: x}]}\n',
      '3:1: restartPolicy',
    ],
    [
      'in the metadata',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a, restartPolicy: Never}\nspec: {containers: [{name: m, image: x}]}\n',
      '3:21: metadata.restartPolicy',
    ],
    [
      'in the resources',
      withContainer('    resources: {restartPolicy: Never}\n'),
      '8:17: spec.containers[0].resources.restartPolicy',
    ],
  ])('user-asks 80: refuses a restartPolicy %s, and says where it stands', (_, text, place) => {
    const decoded = decode(text);
    expect(decoded.pods).toEqual([]);
    expect(problems(decoded)).toEqual([expect.stringContaining(`/m/x.yaml:${place}: unknown field`)]);
  });

  it('takes every document, PodList and List', () => {
    const list =
      'apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: c}\n  spec: {containers: [{name: m, image: x}]}\n';
    const anyList =
      'apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: d, namespace: team}\n  spec: {containers: [{name: m, image: x}]}\n';
    const decoded = decode(`${manifest('a', 'b')}---\n${list}---\n${anyList}`);
    expect(problems(decoded)).toEqual([]);
    expect(names(decoded)).toEqual(['default/a-n1', 'default/b-n1', 'default/c-n1', 'team/d-n1']);
    expect(decoded.positions.map(({ line }) => line)).toEqual([1, 6, 14, 21]);
  });

  it('takes JSON', () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'j' },
      spec: { containers: [{ name: 'm', image: 'x' }] },
    };
    expect(names(decode(JSON.stringify(pod, null, '\t')))).toEqual(['default/j-n1']);
  });

  it('holds no pods and no problems when there is nothing in it', () => {
    for (const text of ['', '\n', '# nothing\n', '---\n---\n'])
      expect(decode(text)).toEqual({ pods: [], positions: [], objects: [], problems: [] });
  });

  it('loses no good pod because of a bad one, in documents or in a list', () => {
    const bad = 'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {}\n';
    const decoded = decode(`${manifest('a')}---\n${bad}---\nkind: "open\n---\n${manifest('b')}`);
    expect(names(decoded)).toEqual(['default/a-n1', 'default/b-n1']);
    expect(decoded.problems[0]).toEqual({
      source: 'file',
      origin: '/m/x.yaml',
      position: { line: 9, column: 1 },
      field: 'spec.containers',
      pod: 'default/bad-n1',
      message: 'is required',
    });
    const list = decode(
      'apiVersion: v1\nkind: List\nitems:\n- {kind: Pod, apiVersion: v1}\n- 7\n- {kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {containers: [{name: m, image: x}]}}\n',
    );
    expect(names(list)).toEqual(['default/a-n1']);
    expect(problems(list)).toEqual([
      '/m/x.yaml:4:3: metadata.name: is required',
      '/m/x.yaml:5:3: items[1]: must be an object as a map of fields, for example a Pod',
    ]);
  });

  it.each([
    [
      'a kind nobody knows',
      'apiVersion: v1\nkind: Gadget\n',
      '2:1: kind: Gadget is no kind that rxlet can use; supported are Pod, PodList, List, ConfigMap, Secret, PersistentVolumeClaim, Deployment, DaemonSet, Job',
    ],
    ['no kind', 'apiVersion: v1\n', '1:1: kind: is required, for example Pod'],
    ['no apiVersion', 'kind: Pod\n', '1:1: apiVersion: is required, as v1'],
    ['another apiVersion', 'kind: Pod\napiVersion: v2\n', '2:1: apiVersion: "v2" must be v1'],
    ['text', 'hello\n', '1:1: must be an object as a map of fields, for example a Pod'],
    [
      'no name',
      'kind: Pod\napiVersion: v1\nmetadata: {}\nspec: {containers: [{name: m, image: x}]}\n',
      '3:1: metadata.name: is required',
    ],
    [
      'a key in another case',
      manifest('a').replace('containers', 'Containers'),
      '4:8: spec.Containers: unknown field, did you mean containers?',
    ],
    ['a field nobody knows', withContainer('    shoeSize: 43\n'), '8:5: spec.containers[0].shoeSize: unknown field'],
    [
      'a YAML 1.1 word',
      withContainer('    env:\n    - name: A\n      value: y\n'),
      '10:7: spec.containers[0].env[0].value: must be a string, not the boolean true; put it in quotes',
    ],
    [
      'a string for a list',
      withContainer('    command: sleep 5\n'),
      '8:5: spec.containers[0].command: must be a list, not the string "sleep 5"',
    ],
    [
      'a quoted number',
      withContainer('  terminationGracePeriodSeconds: "1"\n'),
      '8:3: spec.terminationGracePeriodSeconds: must be a whole number, not the string "1"',
    ],
    [
      'a bad quantity',
      withContainer('    resources: {limits: {cpu: one}}\n'),
      '8:26: spec.containers[0].resources.limits.cpu: must be a quantity, for example 500m, 1.5 or 64Mi, not the string "one"',
    ],
    [
      'a key given twice',
      withContainer('    tty: true\n    tty: false\n'),
      '9:5: spec.containers[0].tty: is given twice',
    ],
    [
      'a broken rule',
      withContainer('  restartPolicy: Sometimes\n'),
      '8:3: spec.restartPolicy: "Sometimes" must be one of Always, OnFailure, Never',
    ],
    [
      'an object of the API server',
      withContainer('  serviceAccountName: robot\n'),
      '8:3: spec.serviceAccountName: a pod from a manifest must not refer to a service account, as no API server serves it',
    ],
  ])('refuses %s and says where', (_what, text, problem) => {
    const decoded = decode(text);
    expect(decoded.pods).toEqual([]);
    expect(problems(decoded)).toEqual([`/m/x.yaml:${problem}`]);
  });

  it.each([
    ['null fields', withContainer('    command:\n    ports: ~\n  volumes: null\n')],
    ['1.0 for a whole number', withContainer('  terminationGracePeriodSeconds: 1.0\n')],
    ['an octal mode', withContainer('  volumes: [{name: v, downwardAPI: {defaultMode: 0640}}]\n')],
    ['Windows lines and a byte order mark', `\uFEFF${withContainer('').replaceAll('\n', '\r\n')}`],
    ['a volume without a source', withContainer('  volumes: [{name: v}]\n')],
    ['a name of a variable given twice', withContainer('    env: [{name: A, value: "1"}, {name: A, value: "2"}]\n')],
    ['automountServiceAccountToken', withContainer('  automountServiceAccountToken: true\n')],
    ['a number for a quantity', withContainer('    resources: {limits: {cpu: 0.5, memory: 100000000}}\n')],
  ])('accepts %s, as the kubelet does', (_what, text) => {
    const decoded = decode(text, true);
    expect(problems(decoded)).toEqual([]);
    expect(names(decoded)).toEqual(['default/a-n1']);
  });

  it('tells one problem per field', () => {
    const decoded = decode(withContainer('  dnsPolicy: Nope\n  volumes: [{name: v, secret: {}}]\n'));
    const fields = decoded.problems.map(({ field }) => field);
    expect(new Set(fields).size).toBe(fields.length);
  });
});
