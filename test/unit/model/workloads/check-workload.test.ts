import { describe, expect, it } from 'vitest';
import { decodeManifest } from '../../../../src/sources/manifest/decode-manifest.ts';

type Fields = Readonly<Record<string, unknown>>;

const POD: Fields = { containers: [{ name: 'main', image: 'busybox:1' }] };

/** `field: message` of all that is wrong with a Deployment of such a selector and template. */
function problemsOf(selector: Fields | undefined, template: Fields = {}, name = 'web'): readonly string[] {
  const text = JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector, template: { metadata: { labels: { app: 'web', tier: 'a' } }, spec: POD, ...template } },
  });
  const { problems } = decodeManifest(text, { origin: '/m/x.json', source: 'file', nodeName: 'n1' });
  return problems.map(({ field = '', message }) => `${field}: ${message}`);
}

const NOT_MET = 'must match spec.template.metadata.labels';

describe('the selector of a workload', () => {
  it.each<[rule: string, selector: Fields | undefined, problems: readonly string[]]>([
    ['picks its pods by labels', { matchLabels: { app: 'web' } }, []],
    ['is there', undefined, ['spec.selector: is required']],
    ['is not empty', {}, ['spec.selector: is required']],
    ...[
      [{ key: 'app', operator: 'In', values: ['web', 'db'] }, true],
      [{ key: 'app', operator: 'In', values: ['db'] }, false],
      [{ key: 'app', operator: 'NotIn', values: ['db'] }, true],
      [{ key: 'none', operator: 'NotIn', values: ['db'] }, true],
      [{ key: 'app', operator: 'NotIn', values: ['web'] }, false],
      [{ key: 'app', operator: 'Exists' }, true],
      [{ key: 'none', operator: 'Exists' }, false],
      [{ key: 'none', operator: 'DoesNotExist' }, true],
      [{ key: 'app', operator: 'DoesNotExist' }, false],
    ].map(([expression, isMet]): [string, Fields, readonly string[]] => [
      `${isMet === true ? 'is met by' : 'is not met by'} ${JSON.stringify(expression)}`,
      { matchExpressions: [expression] },
      isMet === true ? [] : [`spec.selector.matchExpressions[0]: ${NOT_MET}`],
    ]),
  ])('%s', (_rule, selector, problems) => {
    expect(problemsOf(selector)).toEqual(problems);
  });
});

describe('the template of a workload', () => {
  const selector = { matchLabels: { app: 'web' } };

  it.each<[rule: string, template: Fields, problems: readonly string[]]>([
    ['has a spec', { spec: undefined }, ['spec.template.spec: is required']],
    [
      'has no deadline where pods are to run on',
      { spec: { ...POD, activeDeadlineSeconds: 5 } },
      ['spec.template.spec.activeDeadlineSeconds: must not be given: its pods are to run on'],
    ],
    [
      'is of the namespace of its owner',
      { metadata: { namespace: 'other', labels: { app: 'web' } } },
      ['spec.template.metadata.namespace: must be that of its owner, default'],
    ],
  ])('%s', (_rule, template, problems) => {
    expect(problemsOf(selector, template)).toEqual(problems);
  });
});
