import { describe, expect, it } from 'vitest';
import { describeProblem } from '../../../../src/model/desired.ts';
import { keyOf } from '../../../../src/model/objects/local-object.ts';
import { decodeManifest, type DecodedManifest } from '../../../../src/sources/manifest/decode-manifest.ts';

function decode(text: string): DecodedManifest {
  return decodeManifest(text, { origin: '/m/x.yaml', source: 'file', nodeName: 'n1' });
}

const problems = (text: string): readonly string[] =>
  decode(text).problems.map((problem) => describeProblem(problem).replace('/m/x.yaml:', ''));

const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n';
const SECRET = 'apiVersion: v1\nkind: Secret\nmetadata: {name: web}\n';
const CLAIM = 'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n';
const POD_SPEC = 'containers: [{name: main, image: busybox}]';
const template = (spec = POD_SPEC): string => `  template: {metadata: {labels: {app: web}}, spec: {${spec}}}\n`;
const DEPLOYMENT = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n`;
const JOB = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec:\n';

describe('decodeObject', () => {
  it('takes objects of all kinds beside pods, in documents and in lists', () => {
    const text = [
      `${CONFIG}data: {a: b}\n`,
      `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: other}, stringData: {a: b}}\n`,
      `${CLAIM}spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n`,
      `${DEPLOYMENT}${template()}`,
      `${DEPLOYMENT.replace('Deployment', 'DaemonSet')}${template()}`,
      `${JOB}${template(`restartPolicy: Never, ${POD_SPEC}`)}`,
      `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {${POD_SPEC}}\n`,
    ].join('---\n');
    const { objects, pods, problems: none } = decode(text);
    expect(none).toEqual([]);
    expect(objects.map(({ object }) => keyOf(object))).toEqual([
      'ConfigMap/default/web',
      'Secret/other/s',
      'PersistentVolumeClaim/default/data',
      'Deployment/default/web',
      'DaemonSet/default/web',
      'Job/default/once',
    ]);
    expect(pods.length).toBe(1);
  });

  it('lets stringData win over data', () => {
    const { objects } = decode(`${SECRET}data: {a: YQ==, b: Yg==}\nstringData: {b: new}\n`);
    expect(objects[0]?.object).toMatchObject({ type: 'Opaque', data: { a: 'YQ==', b: 'bmV3' } });
  });

  it('takes base 64 in several lines', () => {
    expect(problems(`${SECRET}data:\n  a: |\n    YWJj\n    ZGVm\n`)).toEqual([]);
  });

  it('fills in what the API server would in workloads', () => {
    const [deployment, job] = decode(
      `${DEPLOYMENT}${template()}---\n${JOB}${template(`restartPolicy: Never, ${POD_SPEC}`)}`,
    ).objects;
    expect(deployment?.object).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', maxUnavailable: '25%', maxSurge: '25%' },
    });
    expect(job?.object).toMatchObject({ completions: 1, parallelism: 1, backoffLimit: 6, suspend: false });
  });

  it('knows a template by what is in it, not by its form', () => {
    const hashes = [
      template(),
      template('containers: [{image: busybox, name: main}]'),
      template('containers: [{name: main, image: other}]'),
    ]
      .map((text) => decode(`${DEPLOYMENT}${text}`).objects[0]?.object)
      .map((object) => (object && 'hash' in object ? object.hash : ''));
    expect(hashes[0]).toMatch(/^[\da-f]{10}$/);
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it.each([
    ['an unknown field', `${CONFIG}dta: {a: b}\n`, '4:1: dta: unknown field, did you mean data?'],
    [
      'a number for a text',
      `${CONFIG}data: {port: 80}\n`,
      '4:8: data.port: must be a string, not the number 80; put it in quotes',
    ],
    [
      'a key that is no file name',
      `${CONFIG}data: {..a: b}\n`,
      '4:8: data[..a]: "..a" must be at most 253 letters, digits, "-", "_" and ".", and not begin with ".."',
    ],
    [
      'a key in both maps',
      `${CONFIG}data: {a: b}\nbinaryData: {a: Yg==}\n`,
      '5:14: binaryData.a: is given in data already',
    ],
    ['what is no base 64', `${CONFIG}binaryData: {a: "%"}\n`, '4:14: binaryData.a: must be a string in base 64'],
    [
      'another version of a kind',
      `${DEPLOYMENT.replace('apps/v1', 'extensions/v1beta1')}${template()}`,
      '1:1: apiVersion: "extensions/v1beta1" must be apps/v1',
    ],
    [
      'a kind nobody can use',
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n',
      '2:1: kind: Service is no kind that rxlet can use; supported are Pod, PodList, List, ConfigMap, Secret, PersistentVolumeClaim, Deployment, DaemonSet, Job',
    ],
    [
      'a kind with a slip in it',
      'apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}\n',
      '2:1: kind: Deploymnet is no kind that rxlet can use, did you mean Deployment?',
    ],
    [
      'a claim without a size',
      `${CLAIM}spec: {accessModes: [ReadWriteOnce]}\n`,
      '4:1: spec.resources.requests: must have storage',
    ],
    [
      'a claim for a device',
      `${CLAIM}spec: {accessModes: [ReadWriteOnce], volumeMode: Block, resources: {requests: {storage: 1}}}\n`,
      '4:38: spec.volumeMode: rxlet gives folders, no block devices',
    ],
    [
      'a selector that picks other pods',
      `${DEPLOYMENT.replace('{app: web}}', '{app: db}}')}${template()}`,
      '5:28: spec.selector.matchLabels.app: must be a label of spec.template.metadata.labels',
    ],
    [
      'a mistake in a template at its place',
      `${DEPLOYMENT}${template('containers: [{name: main}]')}`,
      '6:66: spec.template.spec.containers[0].image: is required',
    ],
    [
      'a Job that would restart for ever',
      `${JOB}${template()}`,
      '5:46: spec.template.spec.restartPolicy: "Always" must be one of Never, OnFailure, and is Always where it is not given',
    ],
    [
      'a share that is none',
      `${DEPLOYMENT}  strategy: {rollingUpdate: {maxSurge: 300%}}\n${template()}`,
      '6:30: spec.strategy.rollingUpdate.maxSurge: must be a whole number from 0 up, or a share as 25%',
    ],
  ])('refuses %s and says where', (_what, text, problem) => {
    const told = problems(text);
    expect(told[0]).toBe(problem);
    expect(decode(text).objects).toEqual([]);
  });

  it('refuses data beyond 1 MiB', () => {
    expect(problems(`${CONFIG}data: {a: "${'x'.repeat(1_048_576)}"}\n`)).toEqual([]);
    expect(problems(`${CONFIG}data: {a: "${'x'.repeat(1_048_577)}"}\n`)).toEqual([
      '4:1: data: must not be larger than 1 MiB in all (1048577 bytes)',
    ]);
  });

  it.each([
    ['a number', 'stringData: {password: 8675309}\n'],
    ['no base 64', 'data: {password: 8675309-hunter2}\n'],
    ['a value in place of the map', 'stringData: 8675309\n'],
    ['broken YAML', 'stringData:\n  password: "8675309\n'],
    ['broken YAML in a block', 'stringData:\n  password: |8675309\n   a\n'],
    ['an alias to nothing', 'stringData: {password: *8675309}\n'],
    [
      'a docker configuration that is none',
      'type: kubernetes.io/dockerconfigjson\nstringData: {.dockerconfigjson: "8675309"}\n',
    ],
    ['a list', 'stringData: {password: [8675309]}\n'],
    ['a tag', 'stringData: {password: !8675309 a}\n'],
    ['a flow map cut off', '{"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "8675309}}'],
  ])('never tells the value of a Secret that holds %s', (_what, text) => {
    const whole = text.startsWith('{') ? text : `${SECRET}${text}`;
    const told = decode(whole).problems;
    expect(told.length).toBeGreaterThan(0);
    expect(JSON.stringify(told)).not.toContain('8675309');
  });
});
