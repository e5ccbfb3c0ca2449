import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/model/pod.ts';
import { hostOf, portOf, textOf } from '../../../../src/runtime/probes/address.ts';

describe('portOf', () => {
  const container = { ports: [{ name: 'web', containerPort: 8_080 }, { containerPort: 9_090 }] };

  it('takes numbers as they are and finds names in the same container', () => {
    expect(portOf(container, 9_090)).toBe(9_090);
    expect(portOf(container, 'web')).toBe(8_080);
    expect(portOf({}, '81')).toBe(81);
  });

  it('refuses what is no port, in the words of the kubelet', () => {
    expect(() => portOf(container, 'nosuch')).toThrow('strconv.Atoi: parsing "nosuch": invalid syntax');
    expect(() => portOf(container, 0)).toThrow('invalid port number: 0');
    expect(() => portOf(container, 65_536)).toThrow('invalid port number: 65536');
  });
});

describe('hostOf', () => {
  const pod = (hostNetwork: boolean): Pod => ({ spec: { hostNetwork } }) as unknown as Pod;

  it('is the host that the probe names, else the address of the pod', () => {
    expect(hostOf({ pod: pod(false), podIp: '10.0.0.1' }, 'example.test')).toBe('example.test');
    expect(hostOf({ pod: pod(false), podIp: '10.0.0.1' }, undefined)).toBe('10.0.0.1');
    expect(hostOf({ pod: pod(false), podIp: '10.0.0.1' }, '')).toBe('10.0.0.1');
  });

  it('is this machine for a pod in its network, and never for a pod whose address is not known yet', () => {
    expect(hostOf({ pod: pod(true), podIp: undefined }, undefined)).toBe('localhost');
    expect(() => hostOf({ pod: pod(false), podIp: undefined }, undefined)).toThrow('not known yet');
  });
});

describe('textOf', () => {
  it('puts brackets around IPv6', () => {
    expect(textOf({ host: '10.0.0.1', port: 80 })).toBe('10.0.0.1:80');
    expect(textOf({ host: 'fd00::1', port: 80 })).toBe('[fd00::1]:80');
  });
});
