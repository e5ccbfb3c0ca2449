import { describe, expect, it } from 'vitest';
import type { Container, Pod, PodSpec } from '../../../../src/model/pod.ts';
import { rootProblem, runAs, type ImageUser } from '../../../../src/model/security/run-as.ts';
import { pod, wanted } from '../../../marbles/fakes.ts';

type Security = NonNullable<Container['securityContext']>;

describe('runAs', () => {
  it.each<[string, Security, ImageUser, object]>([
    ['is root where nobody says anything', {}, {}, { runAsUser: { value: 0 } }],
    ['is the user number of the image', {}, { uid: 1_234 }, { runAsUser: { value: 1_234 } }],
    ['is the user name of the image where that gives no number', {}, { username: 'app' }, { runAsUsername: 'app' }],
    [
      'has the group of the image with its user',
      {},
      { uid: 1_234, group: '2345' },
      { runAsUser: { value: 1_234 }, runAsGroup: { value: 2_345 } },
    ],
    [
      'has the group of the image with its user name',
      {},
      { username: 'app', group: '2345' },
      { runAsUsername: 'app', runAsGroup: { value: 2_345 } },
    ],
    [
      'leaves a group name to the image, which alone can resolve it',
      {},
      { uid: 1_234, group: 'staff' },
      { runAsUsername: '1234:staff' },
    ],
    [
      'is root with a group by name where the image names no user',
      {},
      { group: 'staff' },
      { runAsUsername: '0:staff' },
    ],
    [
      'leaves user and group by name to the image',
      {},
      { username: 'app', group: 'staff' },
      { runAsUsername: 'app:staff' },
    ],
    [
      'is the user of the spec before that of the image, without the group that belongs to another user',
      { runAsUser: 1_001 },
      { uid: 1_234, group: '2345' },
      { runAsUser: { value: 1_001 } },
    ],
    [
      'has the group of the spec before that of the image',
      { runAsGroup: 3_003 },
      { username: 'app', group: 'staff' },
      { runAsUsername: 'app', runAsGroup: { value: 3_003 } },
    ],
    [
      'is root where the spec wants root, whatever the image says',
      { runAsUser: 0, runAsGroup: 0 },
      { uid: 5 },
      { runAsUser: { value: 0 }, runAsGroup: { value: 0 } },
    ],
  ])('%s', (_rule, context, image, expected) => {
    expect(runAs(context, image)).toEqual(expected);
  });
});

describe('rootProblem', () => {
  const WHERE = '(pod: "web_default(u-1)", container: main)';
  const NON_ROOT = { runAsNonRoot: true };

  it.each<[string, Security, ImageUser, string | undefined]>([
    ['root is fine where nothing is said', {}, {}, undefined],
    ['root is fine where it is allowed', { runAsNonRoot: false }, { uid: 0 }, undefined],
    ['a number other than 0 of the image is fine', NON_ROOT, { uid: 4_321 }, undefined],
    ['a user of the pod is fine, whatever the image says', { ...NON_ROOT, runAsUser: 1_500 }, { uid: 0 }, undefined],
    [
      'root of the image is not',
      NON_ROOT,
      { uid: 0 },
      `container has runAsNonRoot and image will run as root ${WHERE}`,
    ],
    ['an image without a user is not', NON_ROOT, {}, `container has runAsNonRoot and image will run as root ${WHERE}`],
    [
      'a name is not, since it may be that of root',
      NON_ROOT,
      { username: 'app' },
      `container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root ${WHERE}`,
    ],
    [
      'root of the pod itself is not',
      { ...NON_ROOT, runAsUser: 0 },
      { uid: 4_321 },
      `container's runAsUser breaks non-root policy ${WHERE}`,
    ],
  ])('%s', (_rule, securityContext, image, problem) => {
    expect(rootProblem(pod(), wanted('main', { securityContext }), image)).toBe(problem);
  });

  it.each<[rule: string, ofPod: NonNullable<PodSpec['securityContext']>, own: Security, isFine: boolean]>([
    ['the pod forbids root to its containers', { runAsNonRoot: true }, {}, false],
    [
      'the container has the last word over the pod: it may allow root',
      { runAsNonRoot: true },
      { runAsNonRoot: false },
      true,
    ],
    [
      'the container has the last word over the pod: it may forbid root',
      { runAsNonRoot: false },
      { runAsNonRoot: true },
      false,
    ],
    ['a user of the pod counts for its containers', { runAsNonRoot: true, runAsUser: 5 }, {}, true],
    [
      'a user of the container counts before that of the pod',
      { runAsNonRoot: true, runAsUser: 5 },
      { runAsUser: 0 },
      false,
    ],
  ])('%s', (_rule, ofPod, own, isFine) => {
    const of: Pod = pod({ spec: { securityContext: ofPod } });
    expect(rootProblem(of, wanted('main', { securityContext: own }), {}) === undefined).toBe(isFine);
  });
});
