import {
  asyncScheduler,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  from,
  map,
  merge,
  mergeMap,
  of,
  share,
  switchMap,
  takeUntil,
  tap,
  type Observable,
} from 'rxjs';
import type { ProbeFindings } from '../workers/pod-work.ts';
import { findingsOf, type ProbeResults } from './findings-of.ts';
import { PROBE_KINDS, probeOf, type ProbeFound, type ProbeKind, type ProbePorts, type ProbeResult } from './probe.ts';
import { isSameRun, type ProbedContainer, type RunningInstance } from './probed-container.ts';
import { runProbe, type ProbeOutcome } from './run-probe.ts';
import { INITIAL_RESULTS } from './tally.ts';

/**
 * Runs the probes of one container through all its instances.
 *
 * ```text
 * container   -a---------------x-b--------     a runs, a has ended, b runs
 * startup      ----s             ----s         s: success; the others are not asked before it
 * liveness          -------f         -----     f: failure; not asked again before b
 * readiness         ---s             ---s
 * found       -n---s--r---d----x-N---S--R-     n: new, s: started, r: ready, d: to be killed, x: has ended
 * ```
 *
 * An instance begins with the results it is known to have, else with the initial ones. A probe never outlives the
 * instance that it asks. Liveness and startup end when the pod is being ended; readiness goes on. Probes that are
 * changed go on with the results they have. Never errors.
 */
export function containerProbes(
  container$: Observable<ProbedContainer>,
  ports: ProbePorts,
  agentStartedAt: number,
): Observable<ProbeFound> {
  return defer(() => {
    const born = asyncScheduler.now();
    const spread = ports.random();
    let latest: ProbedContainer | undefined;
    let results: ProbeResults = {};
    let findings: ProbeFindings | undefined;

    const shared$ = container$.pipe(
      tap((container) => {
        latest = container;
      }),
      share(),
    );
    const ending$ = shared$.pipe(filter(({ isEnding }) => isEnding));

    function runInstance(seen: ProbedContainer, running: RunningInstance): Observable<ProbeFound> {
      const { uid, container } = seen;
      const kinds = PROBE_KINDS.filter((kind) => probeOf(container, kind));
      const known = findings?.containerId === running.id ? results : {};
      results = Object.fromEntries(
        kinds.map((kind) => [kind, known[kind] ?? ports.seed(uid, running.id, kind) ?? INITIAL_RESULTS[kind]]),
      );
      function found(kind: ProbeKind, outcome: ProbeOutcome): ProbeFound {
        results = { ...results, [kind]: outcome.result };
        return told(seen, running.id, true, outcome);
      }
      function ask(kind: ProbeKind): Observable<ProbeFound> {
        const first = results[kind] ?? INITIAL_RESULTS[kind];
        return runKind(seen, running, kind, first).pipe(map((outcome) => found(kind, outcome)));
      }

      const others$ = merge(...kinds.filter((kind) => kind !== 'startup').map(ask));
      const asked$ =
        (results.startup ?? 'success') === 'success'
          ? others$
          : ask('startup').pipe(
              mergeMap((report) => (report.findings.started ? concat(of(report), others$) : of(report))),
            );
      return concat(of(told(seen, running.id, true)), asked$);
    }

    function runKind(
      seen: ProbedContainer,
      { id: containerId, startedAt }: RunningInstance,
      kind: ProbeKind,
      result: ProbeResult,
    ): Observable<ProbeOutcome> {
      const probe = probeOf(seen.container, kind);
      if (!probe) return EMPTY;
      const target = () => {
        const { uid, pod, container, podIp } = latest ?? seen;
        return { uid, pod, container, containerId, kind, podIp };
      };
      const phase = phaseOf(probe.periodSeconds);
      const outcome$ = runProbe({ kind, probe, phase, startedAt, result, target }, ports.probe);
      if (kind === 'readiness') return outcome$;
      return seen.isEnding ? EMPTY : outcome$.pipe(takeUntil(ending$));
    }

    /** Probes keep the step of the moment at which the container was wanted, spread over a period while the agent is new. */
    function phaseOf(periodSeconds = 10): number {
      const period = 1_000 * periodSeconds;
      return born - agentStartedAt < period ? born + spread * period : born;
    }

    function endInstance(seen: ProbedContainer): readonly ProbeFound[] {
      return findings?.started === true ? [told(seen, findings.containerId, false)] : [];
    }

    function told(
      { uid, container }: ProbedContainer,
      containerId: string,
      isRunning: boolean,
      { note }: Pick<ProbeOutcome, 'note'> = {},
    ): ProbeFound {
      findings = findingsOf(container, containerId, results, isRunning);
      return { kind: 'found', uid, container: container.name, findings, ...(note && { note }) };
    }

    return shared$.pipe(
      distinctUntilChanged(isSameRun),
      switchMap((seen) => (seen.running ? runInstance(seen, seen.running) : from(endInstance(seen)))),
    );
  });
}
