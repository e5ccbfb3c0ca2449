import { describe, expect, it } from 'vitest';
import { podIpsInOrder } from '../../../src/model/pod-ips.ts';

describe('podIpsInOrder', () => {
  it.each([
    {
      rule: 'the address of the main family of the node comes first',
      ips: ['fd00::7', '10.0.0.7'],
      node: ['192.0.2.2'],
    },
    {
      rule: 'on a node whose first address is of IPv6 that of IPv6 comes first',
      ips: ['10.0.0.7', 'fd00::7'],
      node: ['2001:db8::2', '192.0.2.2'],
      expected: ['fd00::7', '10.0.0.7'],
    },
    {
      rule: 'a pod has one address of each family, the first that the runtime tells',
      ips: ['10.0.0.7', 'fd00::7', '10.1.0.7', 'fd01::7'],
      node: ['192.0.2.2'],
    },
    { rule: 'IPv4 comes first where the node has no address', ips: ['fd00::7', '10.0.0.7'], node: [] },
    {
      rule: 'a pod of the other family alone has that address',
      ips: ['fd00::7'],
      node: ['192.0.2.2'],
      expected: ['fd00::7'],
    },
    { rule: 'a pod without addresses has none', ips: [], node: ['192.0.2.2'], expected: [] },
  ])('$rule', ({ ips, node, expected = ['10.0.0.7', 'fd00::7'] }) => {
    expect(podIpsInOrder(ips, node)).toEqual(expected);
  });
});
