import { forkJoin, map, of, type Observable } from 'rxjs';
import type { PodSandboxConfig } from '../model/cri/api.ts';
import { parseResolvConf, podDns, type DnsConfig, type DnsProblem } from '../model/dns.ts';
import { isIPv6 } from '../model/pod-ips.ts';
import type { Pod } from '../model/pod.ts';
import type { RuntimeContext } from './context.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { sandboxNeeds, type SandboxNeeds } from './sandbox-needs.ts';

/** All that a sandbox is made with, and what of it is not as the pod asked for. */
export interface SandboxPlan extends SandboxNeeds {
  readonly config: PodSandboxConfig;
  readonly problems: readonly DnsProblem[];
}

/** Emits once and completes; errors where the pod asks for what this node cannot give it. */
export function planSandbox(pod: Pod, attempt: number, context: RuntimeContext): Observable<SandboxPlan> {
  return forkJoin([sandboxNeeds(pod, context), resolverOfNode(context)]).pipe(
    map(([needs, ofNode]) => ({
      ...needs,
      config: sandboxConfig(pod, attempt, ofNode, context, needs.userNamespace),
      problems: podDns(pod, ofNode, context.config).problems,
    })),
  );
}

/** What a runtime that pulls an image for a pod is told of its sandbox, made or not. */
export function sandboxForPull(pod: Pod, context: RuntimeContext): Observable<PodSandboxConfig> {
  return resolverOfNode(context).pipe(map((ofNode) => sandboxConfig(pod, 0, ofNode, context)));
}

/** Read anew for every sandbox: a laptop's resolver changes with its network. */
function resolverOfNode({ config, facts, files }: RuntimeContext): Observable<DnsConfig> {
  if (config.resolvConf === '') return of(loopbackResolver(facts.hostIps));
  return files.readFile(config.resolvConf).pipe(map((text) => parseResolvConf(text ?? '')));
}

/** For pods of a node that is to have no resolver: the machine itself, once for each of its addresses (kubelet). */
function loopbackResolver(hostIps: readonly string[]): DnsConfig {
  const servers = hostIps.map((ip) => (isIPv6(ip) ? '::1' : '127.0.0.1'));
  return { servers: servers.length === 0 ? ['127.0.0.1'] : [...new Set(servers)], searches: ['.'], options: [] };
}
