import { describe, expect, it } from 'vitest';
import { kernelName, podNames } from '../../../src/model/hostname.ts';
import type { PodSpec } from '../../../src/model/pod.ts';
import { pod } from '../../marbles/fakes.ts';

const named = (name: string, spec: Partial<PodSpec>) => pod({ metadata: { name, namespace: 'ns' }, spec });

describe('podNames', () => {
  it.each<[string, string, Partial<PodSpec>, object]>([
    ['takes the name of the pod', 'web-n1', {}, { hostname: 'web-n1' }],
    ['takes spec.hostname before it', 'web-n1', { hostname: 'mine' }, { hostname: 'mine' }],
    ['does not take an empty one', 'web-n1', { hostname: '' }, { hostname: 'web-n1' }],
    ['cuts to 63 letters', 'a'.repeat(67), {}, { hostname: 'a'.repeat(63) }],
    ['leaves no dash or dot at the end of what it cut', `${'a'.repeat(61)}-.n1`, {}, { hostname: 'a'.repeat(61) }],
    [
      'gives a pod in a subdomain a domain',
      'web-n1',
      { subdomain: 'sub' },
      { hostname: 'web-n1', domain: 'sub.ns.svc.cluster.test' },
    ],
    [
      'takes spec.hostnameOverride before all, dots and domain included',
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
    ['is the plain name', { ...inDomain, setHostnameAsFQDN: false }, 'cluster.test', 'chosen'],
    ['is the full name where the pod wants it', inDomain, 'cluster.test', 'chosen.sub.ns.svc.cluster.test'],
    ['ends in a dot without a cluster domain, as in the kubelet', inDomain, '', 'chosen.sub.ns.svc.'],
    ['is the plain name where there is no domain', { setHostnameAsFQDN: true }, 'cluster.test', 'web'],
  ])('%s', (_rule, spec, clusterDomain, name) => {
    expect(kernelName(named('web', spec), clusterDomain)).toEqual({ kind: 'name', name });
  });

  it('may have 64 letters and no more', () => {
    const ofLength = (length: number) =>
      kernelName(named('web', { ...inDomain, hostname: 'h'.repeat(length - '.sub.ns.svc.c'.length) }), 'c');
    expect(ofLength(64)).toMatchObject({ kind: 'name' });
    expect(ofLength(65)).toEqual({
      kind: 'tooLong',
      message: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${'h'.repeat(52)}.sub.ns.svc.c is too long (64 characters is the max, 65 characters requested)`,
    });
  });
});
