import { describe, expect, it } from 'vitest';
import type { DNSConfig, PodSandboxConfig } from '../../../src/model/cri/api.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import { planSandbox, sandboxForPull } from '../../../src/runtime/sandbox-plan.ts';
import { context, fakeFiles, pod } from '../fakes.ts';
import { unexpected } from '../operators/unexpected.ts';

const LOOPBACK = { searches: ['.'], options: [] };

/** What a pod gets on a node with this `resolvConf` and these addresses; its file names the server 10.0.0.53. */
function resolver(resolvConf: string, hostIps: readonly string[], spec: Partial<PodSpec> = {}): DNSConfig | undefined {
  const { config, facts } = context();
  const files = fakeFiles([], {}, new Map([['/run/resolv.conf', 'nameserver 10.0.0.53\n']]));
  const node = context({ config: { ...config, resolvConf }, facts: { ...facts, hostIps }, files });
  const plans: PodSandboxConfig[] = [];
  planSandbox(pod({ spec }), 0, node).subscribe({ next: ({ config: made }) => plans.push(made), error: unexpected });
  sandboxForPull(pod({ spec }), node).subscribe({ next: (made) => plans.push(made), error: unexpected });
  expect(plans[1]?.dnsConfig).toEqual(plans[0]?.dnsConfig);
  return plans[0]?.dnsConfig;
}

describe('planSandbox', () => {
  it.each([
    {
      rule: 'the resolver of the node is read from resolvConf',
      resolvConf: '/run/resolv.conf',
      expected: { servers: ['10.0.0.53'], searches: [], options: [] },
    },
    {
      rule: 'a resolvConf that is not there names no server',
      resolvConf: '/nowhere',
      expected: { servers: [], searches: [], options: [] },
    },
    {
      rule: 'with an empty resolvConf pods ask the machine itself',
      resolvConf: '',
      expected: { ...LOOPBACK, servers: ['127.0.0.1'] },
    },
    {
      rule: 'with an empty resolvConf pods of an IPv6 node ask ::1',
      resolvConf: '',
      hostIps: ['2001:db8::2'],
      expected: { ...LOOPBACK, servers: ['::1'] },
    },
    {
      rule: 'with an empty resolvConf pods of a node of both families ask both, in the order of its addresses',
      resolvConf: '',
      hostIps: ['2001:db8::2', '192.0.2.2'],
      expected: { ...LOOPBACK, servers: ['::1', '127.0.0.1'] },
    },
    {
      rule: 'with an empty resolvConf and no address of the node pods ask 127.0.0.1',
      resolvConf: '',
      hostIps: [],
      expected: { ...LOOPBACK, servers: ['127.0.0.1'] },
    },
  ])('$rule', ({ resolvConf, hostIps = ['192.0.2.2'], expected }) => {
    expect(resolver(resolvConf, hostIps)).toEqual(expected);
  });
});
