import type { Pod } from '../pod.ts';
import { qosClassOf, type QosClass } from '../qos.ts';
import { amountsOf, type Amounts } from './amounts.ts';
import { missing, type Shortage } from './find-shortages.ts';
import { isPreemptable } from './rank.ts';

/** A running pod with what it asks for. */
interface Candidate {
  readonly pod: Pod;
  readonly amounts: Amounts;
}

/** How much of a resource must be given back. */
interface Need {
  readonly resource: string;
  readonly quantity: number;
}

export type Victims =
  | { readonly kind: 'found'; readonly victims: readonly Pod[] }
  /** Even without every pod that may be ended there is not enough; the text names what is missing. */
  | { readonly kind: 'none'; readonly message: string };

/**
 * Chooses the pods that are ended so that a critical one fits (facts sheet 4): guaranteed ones only for what is still
 * missing without all others, then burstable ones, then those that ask for nothing; of each kind as few as possible,
 * those first whose requests come nearest to the need.
 */
export function chooseVictims(pod: Pod, others: readonly Pod[], shortages: readonly Shortage[]): Victims {
  const needs = shortages.map((shortage): Need => ({ resource: shortage.resource, quantity: missing(shortage) }));
  const candidates = others
    .filter((other) => isPreemptable(other, pod))
    .map((other): Candidate => ({ pod: other, amounts: amountsOf(other) }));
  const unmet = without(needs, candidates);
  if (unmet.length > 0)
    return { kind: 'none', message: `no set of running pods found to reclaim resources: ${text(unmet)}` };

  const of = (qos: QosClass): readonly Candidate[] => candidates.filter((each) => qosClassOf(each.pod.spec) === qos);
  const [bestEffort, burstable] = [of('BestEffort'), of('Burstable')];
  const guaranteed = nearest(of('Guaranteed'), without(needs, [...bestEffort, ...burstable]));
  const bursting = nearest(burstable, without(needs, [...bestEffort, ...guaranteed]));
  const idle = nearest(bestEffort, without(needs, [...bursting, ...guaranteed]));
  return { kind: 'found', victims: [...idle, ...bursting, ...guaranteed].map((each) => each.pod) };
}

/** What is still needed when these pods are gone. */
function without(needs: readonly Need[], gone: readonly Candidate[]): readonly Need[] {
  return needs.flatMap(({ resource, quantity }) => {
    const left = gone.reduce((rest, { amounts }) => rest - (amounts[resource] ?? 0), quantity);
    return left > 0 ? [{ resource, quantity: left }] : [];
  });
}

function nearest(candidates: readonly Candidate[], needs: readonly Need[]): readonly Candidate[] {
  if (needs.length === 0) return [];
  const [best] = candidates.toSorted(
    (a, b) => distance(a, needs) - distance(b, needs) || difference(a, b, 'memory') || difference(a, b, 'cpu'),
  );
  if (!best) return [];
  return [
    best,
    ...nearest(
      candidates.filter((other) => other !== best),
      without(needs, [best]),
    ),
  ];
}

/** 0 for a pod that gives everything that is needed, 1 more for each resource of which it gives nothing. */
function distance({ amounts }: Candidate, needs: readonly Need[]): number {
  return needs
    .map(({ resource, quantity }) => Math.max(0, quantity - (amounts[resource] ?? 0)) / quantity)
    .reduce((sum, rest) => sum + rest ** 2, 0);
}

function difference(a: Candidate, b: Candidate, resource: string): number {
  return (a.amounts[resource] ?? 0) - (b.amounts[resource] ?? 0);
}

/** In the form in which the kubelet prints it. */
function text(needs: readonly Need[]): string {
  return `[${needs.map(({ resource, quantity }) => `(res: ${resource}, q: ${quantity}), `).join('')}]`;
}
