import { describe, expect, it } from 'vitest';
import { podCgroup } from '../../../src/model/cgroup.ts';
import type { PodUid } from '../../../src/model/pod.ts';

const uid = '12-ab-34' as PodUid;

describe('podCgroup', () => {
  it.each([
    [
      'the cgroup of a Guaranteed pod stands right below kubepods',
      '/',
      'cgroupfs',
      'Guaranteed',
      '/kubepods/pod12-ab-34',
    ],
    [
      'the cgroup of a Burstable pod stands below kubepods/burstable',
      '/',
      'cgroupfs',
      'Burstable',
      '/kubepods/burstable/pod12-ab-34',
    ],
    [
      'the cgroup of a BestEffort pod stands below kubepods/besteffort',
      '',
      'cgroupfs',
      'BestEffort',
      '/kubepods/besteffort/pod12-ab-34',
    ],
    ['cgroupRoot goes before kubepods', '/gold/', 'cgroupfs', 'BestEffort', '/gold/kubepods/besteffort/pod12-ab-34'],
    [
      'under systemd a slice is named after all its ancestors, with _ for dashes inside of a part',
      '/',
      'systemd',
      'Burstable',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab_34.slice',
    ],
    [
      'under systemd the slice of a Guaranteed pod stands right below kubepods.slice',
      '/',
      'systemd',
      'Guaranteed',
      '/kubepods.slice/kubepods-pod12_ab_34.slice',
    ],
    [
      'under systemd cgroupRoot becomes slices, too',
      '/my-node',
      'systemd',
      'BestEffort',
      '/my_node.slice/my_node-kubepods.slice/my_node-kubepods-besteffort.slice/my_node-kubepods-besteffort-pod12_ab_34.slice',
    ],
  ] as const)('%s', (_rule, root, driver, qos, path) => {
    expect(podCgroup(root, driver, qos, uid)).toBe(path);
  });
});
