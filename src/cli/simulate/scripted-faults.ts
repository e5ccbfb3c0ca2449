import { faultDice, isCri, type Faults, type SimulatedCall } from '../../simulation/faults.ts';
import { isAbout, type Someone } from './behaviour.ts';
import type { FaultRule, Script } from './script.ts';

export interface ScriptedFaults {
  readonly faults: Faults;
  /** From now on. */
  readonly add: (rule: FaultRule) => void;
}

export interface FaultGround {
  readonly script: Pick<Script, 'dice'>;
  readonly nodeName: string;
  /** Milliseconds since the beginning of the run. */
  readonly passed: () => number;
  /** Whose call it is; `undefined` where it is the node's. */
  readonly whoseIs: (call: SimulatedCall) => Someone | undefined;
}

interface Standing {
  readonly rule: FaultRule;
  readonly until: number;
  left: number;
}

/** Faults as the steps of a script bring them; the first that fits a call counts. Those that meet none meet the dice. */
export function scriptedFaults({ script, nodeName, passed, whoseIs }: FaultGround): ScriptedFaults {
  const dice = Object.keys(script.dice).length > 0 ? faultDice(script.dice) : (): undefined => undefined;
  let standing: Standing[] = [];

  function fits({ rule, until, left }: Standing, call: SimulatedCall): boolean {
    if (left === 0 || passed() >= until) return false;
    if (rule.calls.length === 0 ? !isCri(call.name) : !rule.calls.includes(call.name)) return false;
    if (rule.pod === undefined && rule.namespace === undefined) return true;
    const someone = whoseIs(call);
    return someone !== undefined && isAbout(rule, someone, nodeName);
  }

  return {
    add: (rule) => {
      standing = [
        ...standing.filter(({ left, until }) => left > 0 && passed() < until),
        {
          rule,
          until: passed() + (rule.for ?? Number.POSITIVE_INFINITY),
          left: rule.times ?? Number.POSITIVE_INFINITY,
        },
      ];
    },
    faults: (call, random) => {
      const met = standing.find((one) => fits(one, call) && (one.rule.share >= 1 || random() < one.rule.share));
      if (!met) return dice(call, random);
      met.left -= 1;
      return met.rule.fault;
    },
  };
}
