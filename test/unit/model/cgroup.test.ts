import { describe, expect, it } from 'vitest';
import { podCgroup } from '../../../src/model/cgroup.ts';
import type { PodUid } from '../../../src/model/pod.ts';

const uid = '12-ab-34' as PodUid;

describe('podCgroup', () => {
  it.each([
    ['a guaranteed pod stands right below kubepods', '/', 'cgroupfs', 'Guaranteed', '/kubepods/pod12-ab-34'],
    ['a burstable pod stands in its tier', '/', 'cgroupfs', 'Burstable', '/kubepods/burstable/pod12-ab-34'],
    ['a best-effort pod too', '', 'cgroupfs', 'BestEffort', '/kubepods/besteffort/pod12-ab-34'],
    ['another root goes first', '/gold/', 'cgroupfs', 'BestEffort', '/gold/kubepods/besteffort/pod12-ab-34'],
    [
      'systemd names a slice after all its ancestors and keeps dashes for levels',
      '/',
      'systemd',
      'Burstable',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab_34.slice',
    ],
    [
      'systemd has no tier for guaranteed pods either',
      '/',
      'systemd',
      'Guaranteed',
      '/kubepods.slice/kubepods-pod12_ab_34.slice',
    ],
    [
      'systemd slices stand below the slices of the root',
      '/my-node',
      'systemd',
      'BestEffort',
      '/my_node.slice/my_node-kubepods.slice/my_node-kubepods-besteffort.slice/my_node-kubepods-besteffort-pod12_ab_34.slice',
    ],
  ] as const)('%s', (_rule, root, driver, qos, path) => {
    expect(podCgroup(root, driver, qos, uid)).toBe(path);
  });
});
