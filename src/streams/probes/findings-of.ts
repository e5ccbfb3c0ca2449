import type { Container } from '../../model/pod.ts';
import type { ProbeFindings } from '../workers/pod-work.ts';
import { probeOf, type ProbeKind, type ProbeResult } from './probe.ts';
import { INITIAL_RESULTS } from './tally.ts';

export type ProbeResults = Readonly<Partial<Record<ProbeKind, ProbeResult>>>;

/**
 * What the results of its probes mean for one instance of a container (facts sheet 18). A probe that the container has
 * not counts as success, one that has not spoken yet as its initial result; what does not run is neither started nor ready.
 */
export function findingsOf(
  container: Container,
  containerId: string,
  results: ProbeResults,
  isRunning: boolean,
): ProbeFindings {
  const resultOf = (kind: ProbeKind): ProbeResult =>
    probeOf(container, kind) ? (results[kind] ?? INITIAL_RESULTS[kind]) : 'success';
  const startup = resultOf('startup');
  const readiness = resultOf('readiness');
  const started = isRunning && startup === 'success';
  return {
    containerId,
    liveness: resultOf('liveness'),
    startup,
    readiness,
    started,
    ready: started && readiness === 'success',
  };
}
