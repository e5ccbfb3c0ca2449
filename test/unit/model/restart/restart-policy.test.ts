import { describe, expect, it } from 'vitest';
import { restartPolicyOf, restartsAfter } from '../../../../src/model/restart/restart-policy.ts';

describe('restartPolicyOf', () => {
  it.each([
    ['the restart policy of a container is that of its pod', 'Never', undefined, 'Never'],
    ['the restart policy of a container is its own, where it has one', 'Never', 'OnFailure', 'OnFailure'],
    ['the restart policy is Always where nobody says', undefined, undefined, 'Always'],
  ])('%s', (_rule, ofPod, ofContainer, policy) => {
    expect(
      restartPolicyOf(
        { containers: [], ...(ofPod ? { restartPolicy: ofPod } : {}) },
        ofContainer ? { restartPolicy: ofContainer } : {},
      ),
    ).toBe(policy);
  });
});

describe('restartsAfter', () => {
  it.each([
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 137, true],
    ['Never', 0, false],
    ['Never', 1, false],
  ] as const)('%s after exit code %d: %s', (policy, exitCode, restarts) => {
    expect(restartsAfter(policy, exitCode)).toBe(restarts);
  });
});
