import { describe, expect, it } from 'vitest';
import { kernelName, podNames } from '../../../src/model/hostname.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import { pod } from '../../marbles/fakes.ts';

const named = (name: string, spec: Partial<PodSpec>) => pod({ metadata: { name, namespace: 'ns' }, spec });

describe('podNames', () => {
  it.each<[string, string, Partial<PodSpec>, object]>([
    ['the host name is the name of the pod', 'web-n1', {}, { hostname: 'web-n1' }],
    ['the host name is spec.hostname where it is given', 'web-n1', { hostname: 'mine' }, { hostname: 'mine' }],
    ['an empty spec.hostname is none', 'web-n1', { hostname: '' }, { hostname: 'web-n1' }],
    ['a host name has at most 63 letters', 'a'.repeat(67), {}, { hostname: 'a'.repeat(63) }],
    [
      'a host name that was cut does not end in a dash or a dot',
      `${'a'.repeat(61)}-.n1`,
      {},
      { hostname: 'a'.repeat(61) },
    ],
    [
      'a pod with a subdomain has the domain <subdomain>.<namespace>.svc.<clusterDomain>',
      'web-n1',
      { subdomain: 'sub' },
      { hostname: 'web-n1', domain: 'sub.ns.svc.cluster.test' },
    ],
    [
      'spec.hostnameOverride is taken as it stands, and leaves no domain',
      'web-n1',
      { hostnameOverride: 'over.ride.test', hostname: 'mine', subdomain: 'sub' },
      { hostname: 'over.ride.test' },
    ],
  ])('%s', (_rule, name, spec, names) => {
    expect(podNames(named(name, spec), 'cluster.test')).toEqual(names);
  });
});

describe('kernelName', () => {
  const inDomain = { hostname: 'chosen', subdomain: 'sub', setHostnameAsFQDN: true };

  it.each<[string, Partial<PodSpec>, string, string]>([
    [
      'the kernel gets the host name without its domain',
      { ...inDomain, setHostnameAsFQDN: false },
      'cluster.test',
      'chosen',
    ],
    [
      'the kernel gets the full name with setHostnameAsFQDN',
      inDomain,
      'cluster.test',
      'chosen.sub.ns.svc.cluster.test',
    ],
    ['the full name ends in a dot without clusterDomain', inDomain, '', 'chosen.sub.ns.svc.'],
    ['setHostnameAsFQDN changes nothing where there is no domain', { setHostnameAsFQDN: true }, 'cluster.test', 'web'],
  ])('%s', (_rule, spec, clusterDomain, name) => {
    expect(kernelName(named('web', spec), clusterDomain)).toEqual({ kind: 'name', name });
  });

  it('a full name of more than 64 letters fails the pod', () => {
    const ofLength = (length: number) =>
      kernelName(named('web', { ...inDomain, hostname: 'h'.repeat(length - '.sub.ns.svc.c'.length) }), 'c');
    expect(ofLength(64)).toMatchObject({ kind: 'name' });
    expect(ofLength(65)).toEqual({
      kind: 'tooLong',
      message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'h'.repeat(52)}.sub.ns.svc.c is too long (64 characters is the max, 65 characters requested)`,
    });
  });
});
