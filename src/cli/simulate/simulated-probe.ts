import { asyncScheduler, defer, delay, map, Observable, of } from 'rxjs';
import type { Pod } from '../../model/pod.ts';
import { probeExecutor } from '../../runtime/probes/probe-executor.ts';
import type { World } from '../../simulation/simulated-node.ts';
import type { ProbeAnswer, ProbePorts, ProbeTarget } from '../../streams/probes/probe.ts';
import { isAbout } from './behaviour.ts';
import type { ProbeRule, Script } from './script.ts';
import type { Surroundings } from './simulated-edges.ts';

export interface ProbeGround {
  readonly script: Script;
  readonly nodeName: string;
  readonly world: World;
  /** Milliseconds since the beginning of the run. */
  readonly passed: () => number;
}

/** Milliseconds that an answer takes over the network of a pod. */
const WAY = 1;

/**
 * Asks containers of a simulated node: by a command through its runtime, as always; over the network, where every
 * container answers that runs. What the script says of a probe comes before that.
 */
export function simulatedProbe({ script, nodeName, world, passed }: ProbeGround): Surroundings['probe'] {
  const known = new WeakMap<Pod, Map<string, readonly ProbeRule[]>>();

  /** Looked up once for each container of a pod: probes ask by the hundred thousand. */
  function rulesFor({ pod, container: { name: container } }: ProbeTarget): readonly ProbeRule[] {
    const ofPod = known.get(pod) ?? new Map<string, readonly ProbeRule[]>();
    const found = ofPod.get(container);
    if (found) return found;
    const { name, namespace } = pod.metadata;
    const rules =
      script.containers.find((one) => isAbout(one, { pod: name, namespace, container }, nodeName))?.probes ?? [];
    known.set(pod, ofPod.set(container, rules));
    return rules;
  }

  function ruleOf(target: ProbeTarget): ProbeRule | undefined {
    const rules = rulesFor(target);
    const now = passed();
    return rules.find(({ probe = target.kind, from, to, fromAge, toAge }) => {
      if (probe !== target.kind || now < from || now >= to) return false;
      if (fromAge === 0 && toAge === Number.POSITIVE_INFINITY) return true;
      const startedAt = (world.container(target.containerId)?.startedAt ?? 0) / 1e6;
      const age = asyncScheduler.now() - startedAt;
      return age >= fromAge && age < toAge;
    });
  }

  return (cri) => {
    const really = { ask: probeExecutor(cri) };

    function byDefault(...[target, probe]: Parameters<ProbePorts['probe']>): Observable<ProbeAnswer> {
      if (probe.exec) return really.ask(target, probe);
      return new Observable((subscriber) => {
        const isUp = world.container(target.containerId)?.state === 'running';
        return asyncScheduler.schedule(() => {
          subscriber.next(isUp ? WELL : REFUSED);
          subscriber.complete();
        }, WAY);
      });
    }

    return (target, probe) => {
      if (rulesFor(target).length === 0) return byDefault(target, probe);
      return defer(() => {
        const rule = ruleOf(target);
        if (!rule) return byDefault(target, probe);
        if (rule.answer === 'timeout') {
          const output = rule.output ?? 'no answer in time';
          return of<ProbeAnswer>({ result: 'failure', output }).pipe(delay(1_000 * (probe.timeoutSeconds ?? 1)));
        }
        const said: ProbeAnswer = { result: rule.answer, output: rule.output ?? 'as the script says' };
        return byDefault(target, probe).pipe(map((answer) => (answer.result === 'success' ? said : answer)));
      });
    };
  };
}

const WELL: ProbeAnswer = { result: 'success', output: '' };
const REFUSED: ProbeAnswer = { result: 'failure', output: 'connection refused' };
