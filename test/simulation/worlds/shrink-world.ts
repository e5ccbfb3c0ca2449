import type { WorldPlan } from './world-plan.ts';

/** The smallest world found by leaving out one thing after another, of which `fails` still holds. */
export function shrinkWorld(plan: WorldPlan, fails: (plan: WorldPlan) => boolean): WorldPlan {
  const smaller = smallerThan(plan).find(fails);
  return smaller ? shrinkWorld(smaller, fails) : plan;
}

/** Each with one thing less, the boldest first. */
function smallerThan(plan: WorldPlan): readonly WorldPlan[] {
  const { pods, steps, rates } = plan;
  const without = <T>(list: readonly T[], index: number): readonly T[] => list.filter((_, place) => place !== index);
  const bare = (key: 'workloads' | 'images' | 'answers'): readonly WorldPlan[] => {
    const { [key]: left, ...less } = plan;
    return left === undefined ? [] : [less];
  };
  return [
    ...bare('workloads'),
    ...bare('images'),
    ...bare('answers'),
    ...(Object.keys(rates).length > 0 ? [{ ...plan, rates: {} }] : []),
    ...(pods.length > 1 ? pods.map((_pod, index) => ({ ...plan, pods: without(pods, index) })) : []),
    ...steps.map((_step, index) => ({ ...plan, steps: without(steps, index) })),
    ...pods.flatMap((pod, index) =>
      pod.versions.flatMap((version, place) =>
        version.containers.length > 1
          ? version.containers.map((_container, which) => {
              const small = { ...version, containers: without(version.containers, which) };
              const versions = pod.versions.map((one, at) => (at === place ? small : one));
              return { ...plan, pods: pods.map((one, at) => (at === index ? { ...pod, versions } : one)) };
            })
          : [],
      ),
    ),
    ...(plan.events ? [] : [{ ...plan, events: true }]),
  ];
}
