import type { Pod } from '../pod.ts';
import { podRequests } from '../pod-resources.ts';
import { milliValue, parseQuantity, wholeValue } from '../quantity.ts';

/** How much of each resource; `cpu` in thousandths of a core, everything else in whole ones. */
export type Amounts = Readonly<Record<string, number>>;

const KNOWN = new WeakMap<Pod, Amounts>();

/** What a pod asks for, itself included: every pod takes one of `pods`. Reckoned once for each manifest. */
export function amountsOf(pod: Pod): Amounts {
  const amounts = KNOWN.get(pod) ?? reckoned(pod);
  KNOWN.set(pod, amounts);
  return amounts;
}

function reckoned({ spec }: Pod): Amounts {
  const asked = Object.entries(podRequests(spec)).map(([name, text]) => [name, amount(name, text)] as const);
  return { pods: 1, ...Object.fromEntries(asked) };
}

/** A quantity in the unit in which its resource is counted; 0 for what is no quantity. */
export function amount(resource: string, text: string): number {
  const quantity = parseQuantity(text);
  if (!quantity) return 0;
  return resource === 'cpu' ? milliValue(quantity) : wholeValue(quantity);
}

/** So much more of each, or with -1 so much less; `undefined` where numbers cannot tell it exactly. */
export function addAmounts(amounts: Amounts, more: Amounts, sign: 1 | -1): Amounts | undefined {
  const sum: Record<string, number> = { ...amounts };
  for (const name in more) {
    const added = (sum[name] ?? 0) + sign * (more[name] ?? 0);
    if (!Number.isSafeInteger(added)) return undefined;
    sum[name] = added;
  }
  return sum;
}

export function totalOf(all: readonly Amounts[]): Amounts {
  const total: Record<string, number> = {};
  for (const amounts of all) {
    for (const name in amounts) total[name] = (total[name] ?? 0) + (amounts[name] ?? 0);
  }
  return total;
}
