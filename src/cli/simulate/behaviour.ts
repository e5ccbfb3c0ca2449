import type { ContainerBehaviour, ProcessScript } from '../../simulation/process-script.ts';
import { seededRandom } from '../../simulation/seeded-random.ts';
import type { ContainerRule, Script, Whose } from './script.ts';

/** A container of a pod, or the pod itself. */
export interface Someone {
  readonly pod: string;
  readonly namespace: string;
  readonly container?: string;
}

/** Tells whether something is about somebody; a pod may be named as in its manifest or as on the node. */
export function isAbout(whose: Whose, someone: Someone, nodeName: string): boolean {
  const { pod, namespace, container } = whose;
  return (
    (pod === undefined || pod === someone.pod || `${pod}-${nodeName}` === someone.pod) &&
    (namespace === undefined || namespace === someone.namespace) &&
    (container === undefined || container === someone.container)
  );
}

/**
 * What the processes of all containers do, by the rules of a script, the dice being the seed's; those of which it says
 * nothing do what `others` tells.
 */
export function behaviourOf(
  { containers }: Pick<Script, 'containers'>,
  nodeName: string,
  seed: number,
  others: ContainerBehaviour = () => ({}),
): ContainerBehaviour {
  const random = seededRandom(seed);
  return (container) => {
    const { name, attempt, pod } = container;
    const someone = { pod: pod.name, namespace: pod.namespace, container: name };
    const rule = containers.find((one) => isAbout(one, someone, nodeName));
    return rule ? processOf(rule, attempt, random) : others(container);
  };
}

function processOf(rule: ContainerRule, attempt: number, random: () => number): ProcessScript {
  const { exits, onTerm, startError, terminationMessage, prints, exec } = rule;
  const exit = 'each' in exits ? exits.each : exits.list[attempt];
  return {
    ...(exit === undefined
      ? {}
      : {
          exits: {
            after: exit.after + Math.round(exit.spread * random()),
            code: exit.code,
            ...(exit.reason === undefined ? {} : { reason: exit.reason }),
          },
        }),
    ...(onTerm === undefined ? {} : { onTerm }),
    ...(startError === undefined ? {} : { startError }),
    ...(terminationMessage === undefined ? {} : { terminationMessage }),
    prints,
    ...(exec.length === 0 ? {} : { exec: answering(exec) }),
  };
}

function answering(rules: ContainerRule['exec']): NonNullable<ProcessScript['exec']> {
  return (command) =>
    rules.find((one) => one.command === undefined || one.command.join('\0') === command.join('\0')) ?? { exitCode: 0 };
}
