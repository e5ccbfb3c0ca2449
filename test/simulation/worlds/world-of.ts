import fc from 'fast-check';
import { worldPlans, type WorldPlan } from './world-plan.ts';

/** The world of a seed: always the same. */
export function worldOf(seed: number): WorldPlan {
  const [plan] = fc.sample(worldPlans, { seed, numRuns: 1 });
  if (!plan) throw new Error(`there is no world of seed ${seed}`);
  return plan;
}
