import { describe, expect, it } from 'vitest';
import { hostNetworkHostsFile, hostsFile } from '../../../src/model/hosts-file.ts';

describe('hostsFile', () => {
  it('is, letter by letter, what the kubelet writes', () => {
    expect(hostsFile(['10.99.0.7', 'fd00::7'], 'bare-n1')).toBe(
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
});

describe('hostNetworkHostsFile', () => {
  it('is the file of the node under a header', () => {
    expect(hostNetworkHostsFile('127.0.0.1\tlocalhost\n')).toBe(
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n',
    );
  });
});
