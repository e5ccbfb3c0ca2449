import { describe, expect, it } from 'vitest';
import { findingsOf } from '../../../../src/streams/probes/findings-of.ts';

describe('findingsOf', () => {
  const bare = { name: 'c' };
  const probed = { ...bare, startupProbe: {}, livenessProbe: {}, readinessProbe: {} };

  it.each([
    ['has no probe', bare, {}, true, true],
    ['has probes that have not spoken', probed, {}, false, false],
    ['has started', probed, { startup: 'success' }, true, false],
    ['has started and is ready', probed, { startup: 'success', readiness: 'success' }, true, true],
    ['answers for readiness before it has started', probed, { readiness: 'success' }, false, false],
    ['has failed to start', probed, { startup: 'failure', readiness: 'success' }, false, false],
    ['has only a readiness probe', { ...bare, readinessProbe: {} }, {}, true, false],
    ['has only a startup probe', { ...bare, startupProbe: {} }, { startup: 'success' }, true, true],
    ['is alive no more, and not yet killed', { ...bare, livenessProbe: {} }, { liveness: 'failure' }, true, true],
  ] as const)(
    'tells of a container that %s whether it is started and ready',
    (_, container, results, started, ready) => {
      expect(findingsOf(container, 'i', results, true)).toMatchObject({ containerId: 'i', started, ready });
    },
  );

  it('counts a probe that is not there as success, and one that has not spoken as its initial result', () => {
    expect(findingsOf(bare, 'i', {}, true)).toMatchObject({
      startup: 'success',
      liveness: 'success',
      readiness: 'success',
    });
    expect(findingsOf(probed, 'i', {}, true)).toMatchObject({
      startup: 'unknown',
      liveness: 'success',
      readiness: 'failure',
    });
  });

  it('finds what does not run neither started nor ready', () => {
    expect(findingsOf(bare, 'i', {}, false)).toMatchObject({ started: false, ready: false });
  });
});
