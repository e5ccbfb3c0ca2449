import { describe, expect, it } from 'vitest';
import * as path from '../../../src/model/paths.ts';
import type { PodUid } from '../../../src/model/pod.ts';
import { emptyDirMarker, subPathDir, volumesDir, type Volume } from '../../../src/model/volumes/volume-dir.ts';

const uid = 'u-1' as PodUid;
const POD_DIR = '/var/lib/kubelet/pods/u-1';
const POD = { uid, name: 'web-n1', namespace: 'default' };
const PATHS = { rootDir: '/var/lib/kubelet', podLogsDir: '/var/log/pods', containerLinksDir: '/var/log/containers' };

describe('paths', () => {
  const emptyDir: Volume = { name: 'e', emptyDir: {} };
  it.each([
    { rule: 'a pod has a folder below pods, by its UID', is: path.podDir(PATHS, uid), at: POD_DIR },
    { rule: 'volumes stand in the folder of the pod', is: volumesDir(PATHS, uid), at: `${POD_DIR}/volumes` },
    {
      rule: 'the content of an emptyDir stands below the name of its plugin and its own',
      is: path.emptyDirPath(PATHS, uid, 'e'),
      at: `${POD_DIR}/volumes/kubernetes.io~empty-dir/e`,
    },
    {
      rule: 'that an emptyDir is ready stands in the folder plugins of the pod',
      is: emptyDirMarker(PATHS, uid, emptyDir),
      at: `${POD_DIR}/plugins/kubernetes.io~empty-dir/e`,
    },
    {
      rule: 'that a volume of files is ready stands there as that of a wrapped emptyDir',
      is: emptyDirMarker(PATHS, uid, { name: 's', secret: {} }),
      at: `${POD_DIR}/plugins/kubernetes.io~empty-dir/wrapped_s`,
    },
    {
      rule: 'a part of a volume stands below volume-subpaths by volume, container and number of the mount',
      is: subPathDir(PATHS, uid, 'e', 'main', 2),
      at: `${POD_DIR}/volume-subpaths/e/main/2`,
    },
    {
      rule: 'the hosts file is etc-hosts in the folder of the pod',
      is: path.etcHostsPath(PATHS, uid),
      at: `${POD_DIR}/etc-hosts`,
    },
    {
      rule: 'last words of a container stand below containers by its name',
      is: path.terminationLogDir(PATHS, uid, 'main'),
      at: `${POD_DIR}/containers/main`,
    },
    {
      rule: 'a log folder is named by namespace, name and UID',
      is: path.podLogDir(PATHS, POD),
      at: '/var/log/pods/default_web-n1_u-1',
    },
    {
      rule: 'a log is named by container and number of its restarts',
      is: path.containerLogPath('main', 3),
      at: 'main/3.log',
    },
    {
      rule: 'the link for log collectors is named by pod, namespace, container and id',
      is: path.containerLink(PATHS, POD, 'main', 'id'),
      at: '/var/log/containers/web-n1_default_main-id.log',
    },
  ])('$rule', ({ is, at }) => {
    expect(is).toBe(at);
  });

  it('a log folder gives its UID back', () => {
    expect(path.uidOfLogDir('default_web-n1_u-1')).toBe(uid);
  });

  it('the name of that link is cut to the 255 letters of a file name, and still ends in .log', () => {
    const link = path.containerLink(PATHS, { ...POD, name: 'n'.repeat(253) }, 'main', 'i'.repeat(64));
    const name = link.slice(PATHS.containerLinksDir.length + 1);
    expect(name.length).toBe(255);
    expect(name.endsWith('.log')).toBe(true);
  });
});
