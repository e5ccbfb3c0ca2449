import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../src/model/pod.ts';
import { checkSysctls, sysctlsOf } from '../../../src/model/sysctls.ts';

function withSysctls(names: readonly string[], more: Partial<PodSpec> = {}): PodSpec {
  return { containers: [], securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) }, ...more };
}

describe('checkSysctls', () => {
  it.each<[string, PodSpec, readonly string[], string | undefined]>([
    ['takes a pod without any', { containers: [] }, [], undefined],
    ['takes several safe ones', withSysctls(['kernel.shm_rmid_forced', 'net.ipv4.tcp_rmem']), [], undefined],
    ['refuses others than safe ones', withSysctls(['net.core.somaxconn']), [], '"net.core.somaxconn" not allowlisted'],
    ['refuses the first one that is not allowed', withSysctls(['a.b', 'c.d']), [], '"a.b" not allowlisted'],
    [
      'takes others that the node allows by name',
      withSysctls(['net.core.somaxconn']),
      ['net.core.somaxconn'],
      undefined,
    ],
    ['takes what the node allows with slashes', withSysctls(['kernel.sem']), ['kernel/sem'], undefined],
    ['takes what begins as the node allows with slashes', withSysctls(['kernel.msgmax']), ['kernel/msg*'], undefined],
    ['takes what begins as the node allows', withSysctls(['kernel.msgmax']), ['kernel.msg*'], undefined],
    [
      'refuses what only looks alike',
      withSysctls(['kernel.msgmax']),
      ['kernel.msg'],
      '"kernel.msgmax" not allowlisted',
    ],
    [
      "refuses those of the network on the node's network",
      withSysctls(['net.ipv4.tcp_rmem'], { hostNetwork: true }),
      [],
      '"net.ipv4.tcp_rmem" not allowed with host net enabled',
    ],
    [
      "refuses those of IPC in the node's IPC namespace",
      withSysctls(['kernel.shm_rmid_forced'], { hostIPC: true }),
      [],
      '"kernel.shm_rmid_forced" not allowed with host ipc enabled',
    ],
    [
      "takes those of IPC on the node's network",
      withSysctls(['kernel.shm_rmid_forced'], { hostNetwork: true }),
      [],
      undefined,
    ],
    [
      "takes those of the network in the node's IPC namespace",
      withSysctls(['net.ipv4.tcp_rmem'], { hostIPC: true }),
      [],
      undefined,
    ],
  ])('%s', (_rule, spec, allowed, problem) => {
    const refusal = { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem ?? ''}` };
    expect(checkSysctls({ spec }, allowed)).toEqual(problem === undefined ? undefined : refusal);
  });
});

describe('a safe sysctl', () => {
  it.each([
    'kernel.shm_rmid_forced',
    'net.ipv4.ip_local_port_range',
    'net.ipv4.tcp_syncookies',
    'net.ipv4.ping_group_range',
    'net.ipv4.ip_unprivileged_port_start',
    'net.ipv4.ip_local_reserved_ports',
    'net.ipv4.tcp_keepalive_time',
    'net.ipv4.tcp_keepalive_intvl',
    'net.ipv4.tcp_keepalive_probes',
    'net.ipv4.tcp_fin_timeout',
    'net.ipv4.tcp_rmem',
    'net.ipv4.tcp_wmem',
  ])('is %s, which nobody needs to allow', (name) => {
    expect(checkSysctls({ spec: withSysctls([name]) }, [])).toBeUndefined();
  });
});

describe('sysctlsOf', () => {
  it('gives none where a pod has none', () => {
    expect(sysctlsOf({ containers: [] })).toEqual({});
  });

  it('gives them by name', () => {
    expect(sysctlsOf(withSysctls(['kernel.sem', 'net.core.somaxconn']))).toEqual({
      'kernel.sem': '1',
      'net.core.somaxconn': '1',
    });
  });
});
