import { asyncScheduler, defer, tap } from 'rxjs';
import { DEAF, type Meter } from '../ports/meter.ts';
import type { ProbeAnswer, ProbePorts } from './probe.ts';

/** The same questions to containers, measured and counted. */
export function meterProbe(ask: ProbePorts['probe'], meter: Meter): ProbePorts['probe'] {
  if (meter === DEAF) return ask;
  return (target, probe) =>
    defer(() => {
      const begun = asyncScheduler.now();
      const { uid, pod, container, kind } = target;
      function end(result: 'successful' | 'failed' | 'unknown'): void {
        const { namespace, name } = pod.metadata;
        const took = asyncScheduler.now() - begun;
        meter({ kind: 'probe', probe: kind, result, took, uid, namespace, pod: name, container: container.name });
      }
      return ask(target, probe).pipe(
        tap({
          next: ({ result }: ProbeAnswer) => {
            end(result === 'failure' ? 'failed' : 'successful');
          },
          error: () => {
            end('unknown');
          },
        }),
      );
    });
}
