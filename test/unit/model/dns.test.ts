import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { parseResolvConf, podDns, type ClusterDns, type DnsConfig } from '../../../src/model/dns.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import { pod } from '../../marbles/fakes.ts';

describe('parseResolvConf', () => {
  it.each<[string, string, DnsConfig]>([
    [
      'reads servers, searches and options',
      'nameserver 192.0.2.53\nsearch corp.test lab.test\noptions ndots:2 timeout:1\n',
      { servers: ['192.0.2.53'], searches: ['corp.test', 'lab.test'], options: ['ndots:2', 'timeout:1'] },
    ],
    [
      'adds servers up, in order',
      'nameserver 10.0.0.1\nnameserver ::1',
      { servers: ['10.0.0.1', '::1'], searches: [], options: [] },
    ],
    [
      'lets the last search line win, without dots at the end',
      'search a.test\n  search\tb.test. . c.test',
      { servers: [], searches: ['b.test', 'c.test'], options: [] },
    ],
    [
      'lets the last option of a name win',
      'options ndots:2 rotate\noptions ndots:5',
      { servers: [], searches: [], options: ['ndots:5', 'rotate'] },
    ],
    [
      'passes over comments and what it does not know',
      '# nameserver 10.0.0.9\n; search no.test\nsortlist 10.0.0.0\nnameserver\n\nnameserver 10.0.0.1 # mine\r\n',
      { servers: ['10.0.0.1'], searches: [], options: [] },
    ],
  ])('%s', (_rule, text, config) => {
    expect(parseResolvConf(text)).toEqual(config);
  });
});

describe('podDns', () => {
  const ofNode: DnsConfig = { servers: ['192.0.2.53'], searches: ['corp.test'], options: ['ndots:2'] };
  const cluster = { clusterDNS: ['10.96.0.10'], clusterDomain: 'cluster.test' };
  const none = { clusterDNS: [], clusterDomain: 'cluster.test' };
  const ofCluster: DnsConfig = {
    servers: ['10.96.0.10'],
    searches: ['ns.svc.cluster.test', 'svc.cluster.test', 'cluster.test', 'corp.test'],
    options: ['ndots:5'],
  };
  const asked = (spec: Partial<PodSpec>, from: ClusterDns = cluster, node = ofNode) =>
    podDns(pod({ metadata: { namespace: 'ns' }, spec: { dnsPolicy: 'ClusterFirst', ...spec } }), node, from);

  it.each<[string, Partial<PodSpec>, ClusterDns, DnsConfig]>([
    ['ClusterFirst asks the cluster', { dnsPolicy: 'ClusterFirst' }, cluster, ofCluster],
    ['ClusterFirst on the network of the node asks the node', { hostNetwork: true }, cluster, ofNode],
    [
      'ClusterFirstWithHostNet asks the cluster there too',
      { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true },
      cluster,
      ofCluster,
    ],
    ['Default asks the node', { dnsPolicy: 'Default' }, cluster, ofNode],
    ['None asks nobody', { dnsPolicy: 'None' }, cluster, { servers: [], searches: [], options: [] }],
    ['without a cluster the node is asked', {}, none, ofNode],
    [
      'without a cluster domain the searches are those of the node',
      {},
      { ...cluster, clusterDomain: '' },
      { ...ofCluster, searches: ['corp.test'] },
    ],
    [
      'dnsConfig adds to the policy, names nothing twice, and wins where an option has the same name',
      {
        dnsPolicy: 'Default',
        dnsConfig: {
          nameservers: ['192.0.2.53', '198.51.100.53'],
          searches: ['corp.test', 'extra.test'],
          options: [{ name: 'ndots', value: '7' }, { name: 'edns0' }],
        },
      },
      cluster,
      {
        servers: ['192.0.2.53', '198.51.100.53'],
        searches: ['corp.test', 'extra.test'],
        options: ['edns0', 'ndots:7'],
      },
    ],
  ])('%s', (_rule, spec, from, config) => {
    expect(asked(spec, from).config).toEqual(config);
  });

  it('takes no policy for ClusterFirst', () => {
    const { metadata } = pod({ metadata: { namespace: 'ns' } });
    expect(podDns({ metadata, spec: { containers: [] } }, ofNode, cluster).config).toEqual(ofCluster);
  });

  it('names no search twice', () => {
    const { config } = asked({}, cluster, { ...ofNode, searches: ['cluster.test', 'a.test'] });
    expect(config.searches).toEqual(['ns.svc.cluster.test', 'svc.cluster.test', 'cluster.test', 'a.test']);
  });

  it('leaves the search of a node without resolver to pods that use the node', () => {
    const without: DnsConfig = { servers: ['127.0.0.1'], searches: ['.'], options: [] };
    expect(asked({ dnsPolicy: 'Default' }, cluster, without).config).toEqual(without);
    expect(asked({}, cluster, without).config.searches).not.toContain('.');
  });

  it('tells that a pod which wants the cluster has to do with the node', () => {
    expect(asked({}, none).problems).toEqual([
      {
        reason: 'MissingClusterDNS',
        message:
          'pod: "web_ns(u-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ]);
    expect(asked({ dnsPolicy: 'Default' }, none).problems).toEqual([]);
  });

  it('gives three servers, 32 searches of 253 letters and 2048 letters of searches at most', () => {
    const many = Array.from({ length: 40 }, (_, n) => `s${n}.test`);
    const limited = (searches: readonly string[], servers: readonly string[] = []): DnsConfig =>
      asked({ dnsPolicy: 'Default' }, none, { servers, searches, options: [] }).config;

    expect(limited([], ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4']).servers).toEqual([
      '1.1.1.1',
      '2.2.2.2',
      '3.3.3.3',
    ]);
    expect(limited(many).searches).toEqual(many.slice(0, 32));
    expect(limited(['a'.repeat(254), 'b'.repeat(253)]).searches).toEqual(['b'.repeat(253)]);
    expect(limited(['a'.repeat(254), ...many]).searches).toEqual(many.slice(0, 31));
    const long = Array.from({ length: 10 }, (_, n) => String(n).repeat(250));
    expect(limited(long).searches).toEqual(long.slice(0, 8));
  });

  it('keeps within the limits, in order, and tells of all that it leaves out', () => {
    const word = fc.integer({ min: 1, max: 300 }).map((length) => 'x'.repeat(length));
    const words = fc.uniqueArray(fc.tuple(fc.nat({ max: 99 }), word), { maxLength: 50, selector: ([n]) => n });
    fc.assert(
      fc.property(words, words, (someSearches, someServers) => {
        const searches = someSearches.map(([n, text]) => `${n}${text}`);
        const servers = someServers.map(([n]) => `10.0.0.${n}`);
        const { config, problems } = asked({ dnsPolicy: 'Default' }, none, { servers, searches, options: [] });
        expect(config.servers).toEqual(servers.slice(0, 3));
        expect(config.searches.length).toBeLessThanOrEqual(32);
        expect(config.searches.join(' ').length).toBeLessThanOrEqual(2_048);
        expect(config.searches).toEqual(searches.filter((search) => config.searches.includes(search)));
        const isCut = config.searches.length < searches.length;
        expect(problems.some(({ message }) => message.startsWith('Search Line limits'))).toBe(isCut);
        expect(problems.some(({ message }) => message.startsWith('Nameserver limits'))).toBe(servers.length > 3);
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});
