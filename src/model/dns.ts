import type { Pod, PodSpec } from './pod.ts';

/** What a container's `/etc/resolv.conf` is made of. */
export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface ClusterDns {
  readonly clusterDNS: readonly string[];
  readonly clusterDomain: string;
}

const MAX_SERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH = 253;
const MAX_SEARCH_LINE = 2_048;

/** Reads a resolv.conf: servers add up, the last search line wins, options go by name (facts sheet 14). */
export function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line.trim().split(/\s+/);
    if (keyword === 'nameserver' && words[0] !== undefined) servers.push(words[0]);
    if (keyword === 'search') searches = words.map((word) => word.replace(/\.+$/, '')).filter((word) => word !== '');
    if (keyword === 'options') for (const option of words) options.set(option.split(':')[0] ?? option, option);
  }
  return { servers, searches, options: [...options.values()] };
}

/** What a pod was not given as it asked for it; reasons and messages are the kubelet's. */
export interface DnsProblem {
  readonly reason: 'MissingClusterDNS' | 'DNSConfigForming';
  readonly message: string;
}

export interface PodDns {
  readonly config: DnsConfig;
  readonly problems: readonly DnsProblem[];
}

/**
 * The resolver configuration of a pod by its `dnsPolicy` and `dnsConfig` (facts sheet 14). Without `clusterDNS`, which
 * is usual for a node on its own, ClusterFirst falls back to what the node uses.
 */
export function podDns(pod: Pick<Pod, 'metadata' | 'spec'>, ofNode: DnsConfig, cluster: ClusterDns): PodDns {
  const { metadata, spec } = pod;
  const wantsCluster = asksCluster(spec);
  const isMissing = wantsCluster && cluster.clusterDNS.length === 0;
  const base =
    spec.dnsPolicy === 'None' ? NOTHING : isMissing || !wantsCluster ? ofNode : ofCluster(pod, ofNode, cluster);
  const { config, problems } = withinLimits(spec.dnsConfig ? merged(base, spec.dnsConfig) : base);
  if (!isMissing) return { config, problems };
  const message =
    `pod: "${metadata.name}_${metadata.namespace}(${metadata.uid})". kubelet does not have ClusterDNS IP configured ` +
    'and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  return { config, problems: [{ reason: 'MissingClusterDNS', message }, ...problems] };
}

const NOTHING: DnsConfig = { servers: [], searches: [], options: [] };

function asksCluster({ dnsPolicy = 'ClusterFirst', hostNetwork }: PodSpec): boolean {
  return dnsPolicy === 'ClusterFirstWithHostNet' || (dnsPolicy === 'ClusterFirst' && hostNetwork !== true);
}

function ofCluster(
  { metadata: { namespace } }: Pick<Pod, 'metadata'>,
  ofNode: DnsConfig,
  { clusterDNS, clusterDomain }: ClusterDns,
): DnsConfig {
  const own = clusterDomain === '' ? [] : [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return {
    servers: clusterDNS,
    // A node without a resolver searches the root; that is for pods which have no cluster either.
    searches: [...new Set([...own, ...ofNode.searches.filter((search) => search !== '.')])],
    options: ['ndots:5'],
  };
}

/** What the pod adds; its options win over those of the same name. The order of options says nothing, so it is theirs by name. */
function merged(base: DnsConfig, { nameservers = [], searches = [], options = [] }: PodDnsConfig): DnsConfig {
  const byName = new Map(base.options.map((option) => [option.split(':')[0] ?? option, option]));
  for (const { name = '', value } of options)
    byName.set(name, value === undefined || value === '' ? name : `${name}:${value}`);
  return {
    servers: [...new Set([...base.servers, ...nameservers])],
    searches: [...new Set([...base.searches, ...searches])],
    options: [...byName.values()].toSorted((a, b) => (a < b ? -1 : 1)),
  };
}

type PodDnsConfig = NonNullable<PodSpec['dnsConfig']>;

/** Resolvers take no more than so much, and some fail on what is too long. */
function withinLimits({ servers, searches, options }: DnsConfig): PodDns {
  const keptServers = servers.slice(0, MAX_SERVERS);
  const kept: string[] = [];
  let length = -1;
  for (const search of searches.slice(0, MAX_SEARCHES).filter(({ length: letters }) => letters <= MAX_SEARCH)) {
    length += search.length + 1;
    if (length > MAX_SEARCH_LINE) break;
    kept.push(search);
  }
  const problems: DnsProblem[] = [];
  if (kept.length < searches.length)
    problems.push({
      reason: 'DNSConfigForming',
      message: `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${kept.join(' ')}`,
    });
  if (keptServers.length < servers.length)
    problems.push({
      reason: 'DNSConfigForming',
      message: `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${keptServers.join(' ')}`,
    });
  return { config: { servers: keptServers, searches: kept, options }, problems };
}
