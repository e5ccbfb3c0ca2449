import { describe, expect, it } from 'vitest';
import { dnsConfigOf, parseResolvConf, type DnsConfig } from '../../../src/model/dns.ts';

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

describe('dnsConfigOf', () => {
  const ofNode: DnsConfig = { servers: ['192.0.2.53'], searches: ['corp.test'], options: ['ndots:2'] };
  const cluster = { clusterDNS: ['10.96.0.10'], clusterDomain: 'cluster.test' };
  const none = { clusterDNS: [], clusterDomain: 'cluster.test' };
  const ofCluster: DnsConfig = {
    servers: ['10.96.0.10'],
    searches: ['ns.svc.cluster.test', 'svc.cluster.test', 'cluster.test', 'corp.test'],
    options: ['ndots:5'],
  };

  it.each([
    ['ClusterFirst asks the cluster', 'ClusterFirst', false, cluster, ofCluster],
    ['no policy is ClusterFirst', undefined, false, cluster, ofCluster],
    ['ClusterFirst on the network of the node asks the node', 'ClusterFirst', true, cluster, ofNode],
    ['ClusterFirstWithHostNet asks the cluster there too', 'ClusterFirstWithHostNet', true, cluster, ofCluster],
    ['Default asks the node', 'Default', false, cluster, ofNode],
    ['without a cluster the node is asked', 'ClusterFirst', false, none, ofNode],
    [
      'without a cluster domain the searches are those of the node',
      'ClusterFirst',
      false,
      { ...cluster, clusterDomain: '' },
      { ...ofCluster, searches: ['corp.test'] },
    ],
  ])('%s', (_rule, policy, hostNetwork, from, config) => {
    expect(dnsConfigOf(policy, hostNetwork, 'ns', ofNode, from)).toEqual(config);
  });

  it('names no search twice', () => {
    const { searches } = dnsConfigOf(
      'ClusterFirst',
      false,
      'ns',
      { ...ofNode, searches: ['cluster.test', 'a.test'] },
      cluster,
    );
    expect(searches).toEqual(['ns.svc.cluster.test', 'svc.cluster.test', 'cluster.test', 'a.test']);
  });

  it('leaves the search of a node without resolver to pods that use the node', () => {
    const without: DnsConfig = { servers: ['127.0.0.1'], searches: ['.'], options: [] };
    expect(dnsConfigOf('Default', false, 'ns', without, cluster)).toEqual(without);
    expect(dnsConfigOf('ClusterFirst', false, 'ns', without, cluster).searches).not.toContain('.');
  });

  it('gives three servers, 32 searches of 253 letters and 2048 letters of searches at most', () => {
    const many = Array.from({ length: 40 }, (_, n) => `s${n}.test`);
    const limited = (searches: readonly string[], servers: readonly string[] = []): DnsConfig =>
      dnsConfigOf('Default', false, 'ns', { servers, searches, options: [] }, none);

    expect(limited([], ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4']).servers).toEqual([
      '1.1.1.1',
      '2.2.2.2',
      '3.3.3.3',
    ]);
    expect(limited(many).searches).toEqual(many.slice(0, 32));
    expect(limited(['a'.repeat(254), 'b'.repeat(253)]).searches).toEqual(['b'.repeat(253)]);
    const long = Array.from({ length: 10 }, (_, n) => String(n).repeat(250));
    expect(limited(long).searches).toEqual(long.slice(0, 8));
    expect(limited(long).searches.join(' ').length).toBeLessThanOrEqual(2_048);
  });
});
