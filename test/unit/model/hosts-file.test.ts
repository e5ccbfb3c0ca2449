import { describe, expect, it } from 'vitest';
import { hostNetworkHostsFile, hostsFile } from '../../../src/model/hosts-file.ts';

describe('hostsFile', () => {
  it('the hosts file has its header, six lines for the machine itself, and one for each address of the pod', () => {
    expect(hostsFile(['10.99.0.7', 'fd00::7'], { hostname: 'bare-n1' })).toBe(
      '# Kubernetes-managed hosts file.\n' +
        '127.0.0.1\tlocalhost\n' +
        '::1\tlocalhost ip6-localhost ip6-loopback\n' +
        'fe00::0\tip6-localnet\n' +
        'fe00::0\tip6-mcastprefix\n' +
        'fe00::1\tip6-allnodes\n' +
        'fe00::2\tip6-allrouters\n' +
        '10.99.0.7\tbare-n1\n' +
        'fd00::7\tbare-n1\n',
    );
  });

  it('the line of a pod with a domain has its full name before its host name', () => {
    const text = hostsFile(['10.99.0.7'], { hostname: 'chosen', domain: 'sub.default.svc.cluster.test' });
    expect(text).toMatch(/\n10\.99\.0\.7\tchosen\.sub\.default\.svc\.cluster\.test\tchosen\n$/);
  });

  it('hostAliases stand at the end under a header of their own, one line for each entry', () => {
    const aliases = [
      { ip: '203.0.113.5', hostnames: ['one.test', 'two.test'] },
      { ip: '203.0.113.5', hostnames: ['three.test'] },
    ];
    expect(hostsFile(['10.99.0.7'], { hostname: 'web' }, aliases)).toMatch(
      /\n10\.99\.0\.7\tweb\n\n# Entries added by HostAliases\.\n203\.0\.113\.5\tone\.test\ttwo\.test\n203\.0\.113\.5\tthree\.test\n$/,
    );
  });
});

describe('hostNetworkHostsFile', () => {
  it('hostAliases stand behind the file of the node, too', () => {
    expect(hostNetworkHostsFile('127.0.0.1\tlocalhost\n', [{ ip: '203.0.113.5', hostnames: ['one.test'] }])).toBe(
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n' +
        '\n# Entries added by HostAliases.\n203.0.113.5\tone.test\n',
    );
  });

  it('on the network of the node the hosts file is that of the node under a header', () => {
    expect(hostNetworkHostsFile('127.0.0.1\tlocalhost\n')).toBe(
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n',
    );
  });
});
