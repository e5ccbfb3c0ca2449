import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import { hostOf, portOf, textOf } from '../../../../src/runtime/probes/address.ts';

describe('portOf', () => {
  const container = { ports: [{ name: 'web', containerPort: 8_080 }, { containerPort: 9_090 }] };

  it('a port is a number, or a name in the same container', () => {
    expect(portOf(container, 9_090)).toBe(9_090);
    expect(portOf(container, 'web')).toBe(8_080);
    expect(portOf({}, '81')).toBe(81);
  });

  it('a port that is none is an error and no failure, in the words of the kubelet', () => {
    expect(() => portOf(container, 'nosuch')).toThrow('strconv.Atoi: parsing "nosuch": invalid syntax');
    expect(() => portOf(container, 0)).toThrow('invalid port number: 0');
    expect(() => portOf(container, 65_536)).toThrow('invalid port number: 65536');
  });
});

describe('hostOf', () => {
  const pod = (hostNetwork: boolean): Pod => ({ spec: { hostNetwork } }) as unknown as Pod;

  it('the host of a probe is the one that it names, else the address of the pod', () => {
    expect(hostOf({ pod: pod(false), podIp: '10.0.0.1' }, 'example.test')).toBe('example.test');
    expect(hostOf({ pod: pod(false), podIp: '10.0.0.1' }, undefined)).toBe('10.0.0.1');
    expect(hostOf({ pod: pod(false), podIp: '10.0.0.1' }, '')).toBe('10.0.0.1');
  });

  it('the host of a probe is localhost on the network of the node, and never while the address of a pod is not known', () => {
    expect(hostOf({ pod: pod(true), podIp: undefined }, undefined)).toBe('localhost');
    expect(() => hostOf({ pod: pod(false), podIp: undefined }, undefined)).toThrow('not known yet');
  });
});

describe('textOf', () => {
  it('an address of IPv6 has brackets in messages', () => {
    expect(textOf({ host: '10.0.0.1', port: 80 })).toBe('10.0.0.1:80');
    expect(textOf({ host: 'fd00::1', port: 80 })).toBe('[fd00::1]:80');
  });
});
