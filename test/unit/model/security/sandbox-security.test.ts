import { describe, expect, it } from 'vitest';
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
});
