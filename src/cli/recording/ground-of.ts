import type { PerformContext } from '../../runtime/perform-context.ts';
import type { World } from '../../streams/agent/world.ts';
import type { Ground } from './line.ts';

/** Only what decisions are made on: the rest of a configuration may hold what nobody is to know. */
export function groundOf(context: PerformContext, book: World['facts'], kept: World['kept']): Ground {
  const { facts, rules, paths, backoff, retryPeriod, resyncPeriod } = context;
  const { cgroupRoot, cgroupsPerQOS, podPidsLimit, clusterDNS, clusterDomain, resolvConf, seccompDefault } =
    context.config;
  return {
    config: {
      cgroupRoot,
      cgroupsPerQOS,
      ...(podPidsLimit !== undefined && { podPidsLimit }),
      clusterDNS,
      clusterDomain,
      resolvConf,
      seccompDefault,
    },
    facts,
    rules,
    paths,
    backoff,
    retryPeriod,
    resyncPeriod,
    book,
    kept,
    has: [...(context.cgroups ? ['cgroups'] : []), ...(context.forgetTask ? ['forgetTask'] : [])],
  };
}
