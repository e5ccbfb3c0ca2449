import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { parseResolvConf, podDns, type ClusterDns, type DnsConfig } from '../../../src/model/dns.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import { pod } from '../../marbles/fakes.ts';

describe('parseResolvConf', () => {
  it.each<[string, string, DnsConfig]>([
    [
      'name servers, searches and options are read from their lines',
      'nameserver 192.0.2.53\nsearch corp.test lab.test\noptions ndots:2 timeout:1\n',
      { servers: ['192.0.2.53'], searches: ['corp.test', 'lab.test'], options: ['ndots:2', 'timeout:1'] },
    ],
    [
      'the name servers of all lines add up, in their order',
      'nameserver 10.0.0.1\nnameserver ::1',
      { servers: ['10.0.0.1', '::1'], searches: [], options: [] },
    ],
    [
      'the last search line wins; dots at the end of a search go, and so does one that is only a dot',
      'search a.test\n  search\tb.test. . c.test',
      { servers: [], searches: ['b.test', 'c.test'], options: [] },
    ],
    [
      'of two options of one name the last one wins',
      'options ndots:2 rotate\noptions ndots:5',
      { servers: [], searches: [], options: ['ndots:5', 'rotate'] },
    ],
    [
      'comments and unknown words say nothing',
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
    [
      'ClusterFirst asks the servers of the cluster, searches its domains before those of the node, and sets ndots:5',
      { dnsPolicy: 'ClusterFirst' },
      cluster,
      ofCluster,
    ],
    ['ClusterFirst on the network of the node takes the resolver of the node', { hostNetwork: true }, cluster, ofNode],
    [
      'ClusterFirstWithHostNet asks the cluster on the network of the node too',
      { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true },
      cluster,
      ofCluster,
    ],
    ['Default takes the resolver of the node', { dnsPolicy: 'Default' }, cluster, ofNode],
    [
      'None takes nothing but what dnsConfig brings',
      { dnsPolicy: 'None' },
      cluster,
      { servers: [], searches: [], options: [] },
    ],
    ['without clusterDNS a pod of the cluster takes the resolver of the node', {}, none, ofNode],
    [
      'without clusterDomain the searches are those of the node',
      {},
      { ...cluster, clusterDomain: '' },
      { ...ofCluster, searches: ['corp.test'] },
    ],
    [
      'servers and searches of dnsConfig come after those of the policy, each once',
      {
        dnsPolicy: 'Default',
        dnsConfig: { nameservers: ['192.0.2.53', '198.51.100.53'], searches: ['corp.test', 'extra.test'] },
      },
      cluster,
      { servers: ['192.0.2.53', '198.51.100.53'], searches: ['corp.test', 'extra.test'], options: ['ndots:2'] },
    ],
    [
      'an option of dnsConfig wins over that of the same name, and stands without a colon where it has no value',
      { dnsPolicy: 'Default', dnsConfig: { options: [{ name: 'ndots', value: '7' }, { name: 'edns0' }] } },
      cluster,
      { ...ofNode, options: ['edns0', 'ndots:7'] },
    ],
    [
      'with the policy None dnsConfig is all that there is',
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['198.51.100.53'], searches: ['my.test'] } },
      cluster,
      { servers: ['198.51.100.53'], searches: ['my.test'], options: [] },
    ],
  ])('%s', (_rule, spec, from, config) => {
    expect(asked(spec, from).config).toEqual(config);
  });

  it('a pod that names no dnsPolicy is of ClusterFirst', () => {
    const { metadata } = pod({ metadata: { namespace: 'ns' } });
    expect(podDns({ metadata, spec: { containers: [] } }, ofNode, cluster).config).toEqual(ofCluster);
  });

  it('a search of the cluster and of the node stands once', () => {
    const { config } = asked({}, cluster, { ...ofNode, searches: ['cluster.test', 'a.test'] });
    expect(config.searches).toEqual(['ns.svc.cluster.test', 'svc.cluster.test', 'cluster.test', 'a.test']);
  });

  it('the search "." of a node without resolver is for pods that take the resolver of the node', () => {
    const without: DnsConfig = { servers: ['127.0.0.1'], searches: ['.'], options: [] };
    expect(asked({ dnsPolicy: 'Default' }, cluster, without).config).toEqual(without);
    expect(asked({}, cluster, without).config.searches).not.toContain('.');
  });

  it('MissingClusterDNS is told of a pod that wants the cluster and gets the resolver of the node', () => {
    expect(asked({}, none).problems).toEqual([
      {
        reason: 'MissingClusterDNS',
        message:
          'pod: "web_ns(u-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ]);
    expect(asked({ dnsPolicy: 'Default' }, none).problems).toEqual([]);
  });

  describe('within the limits of resolvers', () => {
    const limited = (searches: readonly string[], servers: readonly string[] = []) =>
      asked({ dnsPolicy: 'Default' }, none, { servers, searches, options: [] });
    const servers = ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'];
    const many = Array.from({ length: 40 }, (_, n) => `s${n}.test`);
    const long = Array.from({ length: 10 }, (_, n) => String(n).repeat(250));

    it.each([
      { rule: 'a pod gets the first three name servers', given: limited([], servers), gets: servers.slice(0, 3) },
      { rule: 'a pod gets the first 32 searches', given: limited(many), gets: many.slice(0, 32) },
      {
        rule: 'a search of more than 253 letters is left out',
        given: limited(['a'.repeat(254), 'b'.repeat(253)]),
        gets: ['b'.repeat(253)],
      },
      {
        rule: 'a search that is too long counts among the 32',
        given: limited(['a'.repeat(254), ...many]),
        gets: many.slice(0, 31),
      },
      {
        rule: 'searches end where their line would have more than 2048 letters',
        given: limited(long),
        gets: long.slice(0, 8),
      },
    ])('$rule', ({ given: { config }, gets }) => {
      expect([...config.servers, ...config.searches]).toEqual(gets);
    });

    it.each([
      {
        rule: 'DNSConfigForming tells that name servers were left out, and which are applied',
        given: limited([], servers),
        message:
          'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3',
      },
      {
        rule: 'DNSConfigForming tells that searches were left out, and which are applied',
        given: limited(['a'.repeat(254), 'b.test']),
        message:
          'Search Line limits were exceeded, some search paths have been omitted, the applied search line is: b.test',
      },
    ])('$rule', ({ given: { problems }, message }) => {
      expect(problems).toEqual([{ reason: 'DNSConfigForming', message }]);
    });

    it('nothing is told where all is within them', () => {
      expect(limited(many.slice(0, 32), servers.slice(0, 3)).problems).toEqual([]);
    });
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
