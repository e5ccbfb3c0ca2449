import { describe, expect, it } from 'vitest';
import { graceOf, graceOfObserved } from '../../../src/model/grace.ts';
import { container, observed, pod } from '../../marbles/fakes.ts';

describe('graceOf', () => {
  it.each([
    ['the grace of a pod is its terminationGracePeriodSeconds', pod({ spec: { terminationGracePeriodSeconds: 5 } }), 5],
    ['the grace of a deletion goes before that of the pod', pod({ metadata: { deletionGracePeriodSeconds: 3 } }), 3],
    ['the grace of a pod is 30 seconds where nobody says', pod({}), 30],
    ['the grace of a pod is never below a second', pod({ spec: { terminationGracePeriodSeconds: 0 } }), 1],
  ])('%s', (_rule, given, seconds) => {
    expect(graceOf(given)).toBe(seconds);
  });
});

describe('graceOfObserved', () => {
  const withGrace = (value: string) =>
    observed({
      containers: [container(), container({ annotations: { 'io.kubernetes.pod.terminationGracePeriod': value } })],
    });

  it.each([
    ['is what the annotation of a container says, where the manifest is gone', withGrace('7'), 7],
    [
      'is what its deletion gave it, where it was told',
      observed({
        containers: [
          container({
            annotations: {
              'io.kubernetes.pod.terminationGracePeriod': '7',
              'io.kubernetes.pod.deletionGracePeriod': '3',
            },
          }),
        ],
      }),
      3,
    ],
    ['is never below a second', withGrace('0'), 1],
    ['is 30 seconds where it cannot be read', withGrace('soon'), 30],
    ['is 30 seconds where nothing tells', observed({}), 30],
  ])('%s', (_rule, given, seconds) => {
    expect(graceOfObserved(given)).toBe(seconds);
  });
});
