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

/**
 * The resolver configuration of a pod by its `dnsPolicy`. Without `clusterDNS`, which is usual for a node on its
 * own, ClusterFirst falls back to what the node uses.
 */
export function dnsConfigOf(
  policy: string | undefined,
  hostNetwork: boolean,
  namespace: string,
  ofNode: DnsConfig,
  { clusterDNS, clusterDomain }: ClusterDns,
): DnsConfig {
  const clusterFirst = policy === 'ClusterFirstWithHostNet' || (policy !== 'Default' && !hostNetwork);
  if (!clusterFirst || clusterDNS.length === 0) return withinLimits(ofNode);
  const own = clusterDomain === '' ? [] : [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return withinLimits({
    servers: clusterDNS,
    // A node without a resolver searches the root; that is for pods which have no cluster either.
    searches: [...new Set([...own, ...ofNode.searches.filter((search) => search !== '.')])],
    options: ['ndots:5'],
  });
}

function withinLimits({ servers, searches, options }: DnsConfig): DnsConfig {
  const kept: string[] = [];
  let length = 0;
  for (const search of searches.filter(({ length: letters }) => letters <= MAX_SEARCH).slice(0, MAX_SEARCHES)) {
    length += search.length + (kept.length > 0 ? 1 : 0);
    if (length > MAX_SEARCH_LINE) break;
    kept.push(search);
  }
  return { servers: servers.slice(0, MAX_SERVERS), searches: kept, options };
}
