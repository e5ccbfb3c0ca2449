import { describe, expect, it } from 'vitest';
import { decodeManifest } from '../../../../src/sources/manifest/decode-manifest.ts';

type Fields = Readonly<Record<string, unknown>>;
type Kind = 'Deployment' | 'DaemonSet' | 'Job';

/** What a workload of such a spec is decoded to, and `field: message` of all that is wrong with it. */
function settled(kind: Kind, spec: Fields): { readonly object: unknown; readonly problems: readonly string[] } {
  const isJob = kind === 'Job';
  const containers = [{ name: 'main', image: 'busybox:1' }];
  const text = JSON.stringify({
    apiVersion: isJob ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: 'web' },
    spec: {
      ...(isJob ? {} : { selector: { matchLabels: { app: 'web' } } }),
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers, ...(isJob ? { restartPolicy: 'Never' } : {}) },
      },
      ...spec,
    },
  });
  const { objects, problems } = decodeManifest(text, { origin: '/m/x.json', source: 'file', nodeName: 'n1' });
  return { object: objects[0]?.object, problems: problems.map(({ field = '', message }) => `${field}: ${message}`) };
}

const rolling = (maxUnavailable: unknown, maxSurge: unknown): Fields => ({
  strategy: { rollingUpdate: { maxUnavailable, maxSurge } },
});
const SHARE = 'must be a whole number from 0 up, or a share as 25%';

describe('a workload', () => {
  it.each<[rule: string, kind: Kind, spec: Fields, expected: Fields]>([
    [
      'is a Deployment of one replica that rolls by a quarter where it does not say',
      'Deployment',
      {},
      {
        replicas: 1,
        minReadySeconds: 0,
        strategy: { type: 'RollingUpdate', maxUnavailable: '25%', maxSurge: '25%' },
      },
    ],
    [
      'is a Deployment that recreates its pods where it says so',
      'Deployment',
      { strategy: { type: 'Recreate' } },
      { strategy: { type: 'Recreate' } },
    ],
    [
      'is a DaemonSet that lets its pod go before the next one where it does not say',
      'DaemonSet',
      {},
      { minReadySeconds: 0, strategy: { type: 'RollingUpdate', maxUnavailable: 1, maxSurge: 0 } },
    ],
    [
      'is a Job of one completion with six retries where it does not say',
      'Job',
      {},
      { completions: 1, parallelism: 1, backoffLimit: 6, suspend: false },
    ],
    [
      'is a Job with as many completions as it says, one at a time',
      'Job',
      { completions: 3 },
      { completions: 3, parallelism: 1 },
    ],
  ])('%s', (_rule, kind, spec, expected) => {
    const { object, problems } = settled(kind, spec);
    expect(problems).toEqual([]);
    expect(object).toMatchObject({ kind, ...expected });
  });

  it('is a Job of a queue, without a number of completions, where it says only how many work at a time', () => {
    expect(settled('Job', { parallelism: 2 }).object).not.toHaveProperty('completions');
  });

  it.each<[rule: string, kind: Kind, spec: Fields, problems: readonly string[]]>([
    ['has no fewer than 0 replicas', 'Deployment', { replicas: -1 }, ['spec.replicas: -1 must be between 0 and 1000']],
    [
      'has at most 1000 replicas',
      'Deployment',
      { replicas: 1_001 },
      ['spec.replicas: 1001 must be between 0 and 1000'],
    ],
    ['may have 0 replicas', 'Deployment', { replicas: 0 }, []],
    [
      'is ready after no negative time',
      'DaemonSet',
      { minReadySeconds: -1 },
      ['spec.minReadySeconds: -1 must be between 0 and 2147483647'],
    ],
    [
      'cannot be paused',
      'Deployment',
      { paused: true },
      ['spec.paused: rxlet does not support this field: edit the manifest when it is due'],
    ],
    [
      'takes no amounts of a rolling update for Recreate',
      'Deployment',
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      ['spec.strategy.rollingUpdate: must not be given with the type Recreate'],
    ],
    [
      'cannot allow neither a pod more nor a pod less',
      'Deployment',
      rolling(0, '0%'),
      ['spec.strategy.rollingUpdate.maxUnavailable: must not be 0 when maxSurge is 0'],
    ],
    ['takes no share above 100%', 'Deployment', rolling(1, '101%'), [`spec.strategy.rollingUpdate.maxSurge: ${SHARE}`]],
    ['takes a share of 100%', 'Deployment', rolling('100%', '100%'), []],
    [
      'takes no negative amounts of a rolling update',
      'Deployment',
      rolling(-1, 1),
      [`spec.strategy.rollingUpdate.maxUnavailable: ${SHARE}`],
    ],
    [
      'cannot leave the update of a DaemonSet to deletion',
      'DaemonSet',
      { updateStrategy: { type: 'OnDelete' } },
      ['spec.updateStrategy.type: rxlet does not support OnDelete, only RollingUpdate'],
    ],
    [
      'runs no more than 1000 pods of a Job at a time',
      'Job',
      { parallelism: 1_001 },
      ['spec.parallelism: 1001 must be between 0 and 1000'],
    ],
    [
      'has no negative retries',
      'Job',
      { backoffLimit: -1 },
      ['spec.backoffLimit: -1 must be between 0 and 2147483647'],
    ],
    [
      'has a second at least for a Job',
      'Job',
      { activeDeadlineSeconds: 0 },
      ['spec.activeDeadlineSeconds: 0 must be between 1 and 2147483647'],
    ],
    [
      'cannot be an indexed Job',
      'Job',
      { completionMode: 'Indexed' },
      ['spec.completionMode: rxlet supports NonIndexed only'],
    ],
    [
      'cannot have policies of a Job that rxlet does not act on',
      'Job',
      { podReplacementPolicy: 'Failed' },
      ['spec.podReplacementPolicy: rxlet does not support this field yet'],
    ],
  ])('%s', (_rule, kind, spec, problems) => {
    expect(settled(kind, spec).problems).toEqual(problems);
  });

  it.each<[rule: string, kind: Kind, restartPolicy: string, isAllowed: boolean]>([
    ['restarts its pods always as a Deployment', 'Deployment', 'OnFailure', false],
    ['restarts its pods always as a DaemonSet', 'DaemonSet', 'Never', false],
    ['does not restart its pods always as a Job', 'Job', 'Always', false],
    ['may restart its pods on failure as a Job', 'Job', 'OnFailure', true],
  ])('%s', (_rule, kind, restartPolicy, isAllowed) => {
    const spec = { restartPolicy, containers: [{ name: 'main', image: 'busybox:1' }] };
    const { problems } = settled(kind, { template: { metadata: { labels: { app: 'web' } }, spec } });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(
      isAllowed ? [] : ['spec.template.spec.restartPolicy'],
    );
  });
});
