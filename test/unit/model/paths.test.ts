import { describe, expect, it } from 'vitest';
import * as path from '../../../src/model/paths.ts';
import type { PodUid } from '../../../src/model/pod.ts';

const uid = 'u-1' as PodUid;
const POD = { uid, name: 'web-n1', namespace: 'default' };
const PATHS = { rootDir: '/var/lib/kubelet', podLogsDir: '/var/log/pods', containerLinksDir: '/var/log/containers' };

describe('paths', () => {
  it('stand where the kubelet has them', () => {
    expect(path.podsDir(PATHS)).toBe('/var/lib/kubelet/pods');
    expect(path.podDir(PATHS, uid)).toBe('/var/lib/kubelet/pods/u-1');
    expect(path.podLogDir(PATHS, POD)).toBe('/var/log/pods/default_web-n1_u-1');
    expect(path.containerLogPath('main', 3)).toBe('main/3.log');
    expect(path.emptyDirPath(PATHS, uid, 'e')).toBe('/var/lib/kubelet/pods/u-1/volumes/kubernetes.io~empty-dir/e');
    expect(path.etcHostsPath(PATHS, uid)).toBe('/var/lib/kubelet/pods/u-1/etc-hosts');
    expect(path.terminationLogDir(PATHS, uid, 'main')).toBe('/var/lib/kubelet/pods/u-1/containers/main');
    expect(path.containerLink(PATHS, POD, 'main', 'id')).toBe('/var/log/containers/web-n1_default_main-id.log');
  });

  it('give a log folder its UID back', () => {
    expect(path.uidOfLogDir('default_web-n1_u-1')).toBe(uid);
  });

  it('cut the name of a link to what a file name may hold', () => {
    const link = path.containerLink(PATHS, { ...POD, name: 'n'.repeat(253) }, 'main', 'i'.repeat(64));
    const name = link.slice(PATHS.containerLinksDir.length + 1);
    expect(name.length).toBe(255);
    expect(name.endsWith('.log')).toBe(true);
  });
});
