import { describe, expect, it } from 'vitest';
import type { LinuxSandboxSecurityContext } from '../../../../src/model/cri/api.ts';
import type { PodSpec } from '../../../../src/model/pod.ts';
import { sandboxSecurity } from '../../../../src/model/security/sandbox-security.ts';

describe('sandboxSecurity', () => {
  it('gives a sandbox the RuntimeDefault seccomp profile, whatever the pod asks for', () => {
    expect(sandboxSecurity({ containers: [], securityContext: { seccompProfile: { type: 'Unconfined' } } })).toEqual({
      seccomp: { profileType: 'RuntimeDefault' },
    });
  });

  it('makes a sandbox privileged as soon as one container is, be it an init container', () => {
    const privileged = { name: 'init', securityContext: { privileged: true } };
    expect(sandboxSecurity({ containers: [{ name: 'main' }], initContainers: [privileged] })).toMatchObject({
      privileged: true,
    });
  });

  it('gives a sandbox the user, the group, the groups and the SELinux label of the pod', () => {
    const securityContext = {
      runAsUser: 1,
      runAsGroup: 2,
      fsGroup: 3,
      supplementalGroups: [4],
      seLinuxOptions: { type: 't' },
    };
    expect(sandboxSecurity({ containers: [], securityContext })).toMatchObject({
      runAsUser: { value: 1 },
      runAsGroup: { value: 2 },
      supplementalGroups: [3, 4],
      selinuxOptions: { type: 't' },
    });
  });

  it.each<[rule: string, of: NonNullable<PodSpec['securityContext']>, expected: LinuxSandboxSecurityContext]>([
    [
      'has the user and the group of the pod',
      { runAsUser: 1, runAsGroup: 2 },
      { runAsUser: { value: 1 }, runAsGroup: { value: 2 } },
    ],
    [
      'has the group of the volumes and the further groups of the pod',
      { fsGroup: 3, supplementalGroups: [4] },
      { supplementalGroups: [3, 4] },
    ],
    [
      'has the SELinux label of the pod',
      { seLinuxOptions: { type: 't' } },
      { selinuxOptions: { user: '', role: '', type: 't', level: '' } },
    ],
  ])('%s', (_rule, securityContext, expected) => {
    expect(sandboxSecurity({ containers: [], securityContext })).toEqual({
      ...expected,
      seccomp: { profileType: 'RuntimeDefault' },
    });
  });

  it('has no privileges where no container has any', () => {
    const denied = { name: 'main', securityContext: { privileged: false } };
    expect(sandboxSecurity({ containers: [denied] })).not.toHaveProperty('privileged');
  });
});
