import { describe, expect, it } from 'vitest';
import { findingsOf } from '../../../../src/streams/probes/findings-of.ts';

describe('findingsOf', () => {
  const bare = { name: 'c' };
  const probed = { ...bare, startupProbe: {}, livenessProbe: {}, readinessProbe: {} };

  it.each([
    ['a container without probes is started and ready while it runs', bare, {}, true, true],
    ['a container whose probes have not spoken is neither', probed, {}, false, false],
    [
      'a container whose startup probe has succeeded is started, and not ready by that',
      probed,
      { startup: 'success' },
      true,
      false,
    ],
    [
      'a container is ready when it has started and its readiness probe has succeeded',
      probed,
      { startup: 'success', readiness: 'success' },
      true,
      true,
    ],
    ['readiness says nothing before the container has started', probed, { readiness: 'success' }, false, false],
    [
      'a container whose startup probe failed is not started',
      probed,
      { startup: 'failure', readiness: 'success' },
      false,
      false,
    ],
    [
      'a container without a startup probe is started at once, and ready by its readiness probe',
      { ...bare, readinessProbe: {} },
      {},
      true,
      false,
    ],
    [
      'a container without a readiness probe is ready when it has started',
      { ...bare, startupProbe: {} },
      { startup: 'success' },
      true,
      true,
    ],
    [
      'a liveness probe changes neither started nor ready',
      { ...bare, livenessProbe: {} },
      { liveness: 'failure' },
      true,
      true,
    ],
  ] as const)('%s', (_, container, results, started, ready) => {
    expect(findingsOf(container, 'i', results, true)).toMatchObject({ containerId: 'i', started, ready });
  });

  it('a probe that is not there counts as success; startup begins unknown, liveness as success, readiness as failure', () => {
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

  it('what does not run is neither started nor ready', () => {
    expect(findingsOf(bare, 'i', {}, false)).toMatchObject({ started: false, ready: false });
  });
});
