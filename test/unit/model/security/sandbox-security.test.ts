import { describe, expect, it } from 'vitest';
import { sandboxSecurity } from '../../../../src/model/security/sandbox-security.ts';

describe('sandboxSecurity', () => {
  it('confines the sandbox as the runtime does by default, whatever its containers want', () => {
    expect(sandboxSecurity({ containers: [], securityContext: { seccompProfile: { type: 'Unconfined' } } })).toEqual({
      seccomp: { profileType: 'RuntimeDefault' },
    });
  });

  it('is privileged as soon as one container is, be it one that only prepares', () => {
    const privileged = { name: 'init', securityContext: { privileged: true } };
    expect(sandboxSecurity({ containers: [{ name: 'main' }], initContainers: [privileged] })).toMatchObject({
      privileged: true,
    });
  });

  it('has the user, the groups and the label of the pod', () => {
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
