import { describe, expect, it } from 'vitest';
import type { Container, Pod } from '../../../../src/model/pod.ts';
import { rootProblem, runAs, type ImageUser } from '../../../../src/model/security/run-as.ts';
import { pod, wanted } from '../../../marbles/fakes.ts';

type Security = NonNullable<Container['securityContext']>;

describe('runAs', () => {
  it.each<[string, Security, ImageUser, object]>([
    ['root where nobody says anything', {}, {}, { runAsUser: { value: 0 } }],
    ['the user number of the image', {}, { uid: 1_234 }, { runAsUser: { value: 1_234 } }],
    ['the user name of the image', {}, { username: 'app' }, { runAsUsername: 'app' }],
    [
      'the group of the image with its user',
      {},
      { uid: 1_234, group: '2345' },
      { runAsUser: { value: 1_234 }, runAsGroup: { value: 2_345 } },
    ],
    [
      'the group of the image with its user name',
      {},
      { username: 'app', group: '2345' },
      { runAsUsername: 'app', runAsGroup: { value: 2_345 } },
    ],
    [
      'a group name of the image, which only it can resolve',
      {},
      { uid: 1_234, group: 'staff' },
      { runAsUsername: '1234:staff' },
    ],
    ['both by name', {}, { username: 'app', group: 'staff' }, { runAsUsername: 'app:staff' }],
    [
      'the user of the pod, without the group that belongs to another user',
      { runAsUser: 1_001 },
      { uid: 1_234, group: '2345' },
      { runAsUser: { value: 1_001 } },
    ],
    [
      'the group of the pod before that of the image',
      { runAsGroup: 3_003 },
      { username: 'app', group: 'staff' },
      { runAsUsername: 'app', runAsGroup: { value: 3_003 } },
    ],
    [
      'root where the pod wants root',
      { runAsUser: 0, runAsGroup: 0 },
      { uid: 5 },
      { runAsUser: { value: 0 }, runAsGroup: { value: 0 } },
    ],
  ])('is %s', (_who, context, image, expected) => {
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

  it('lets the container have the last word over the pod', () => {
    const of: Pod = pod({ spec: { securityContext: { runAsNonRoot: true } } });
    expect(rootProblem(of, wanted(), {})).toBeDefined();
    expect(rootProblem(of, wanted('main', { securityContext: { runAsNonRoot: false } }), {})).toBeUndefined();
  });
});
