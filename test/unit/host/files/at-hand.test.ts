import { describe, expect, it } from 'vitest';
import { atHandIn } from '../../../../src/host/files/at-hand.ts';

const isAtHand = atHandIn({ rootDir: '/root', podLogsDir: '/logs' }, '/etc/resolv.conf');

describe('atHandIn', () => {
  it.each([
    '/root/pods/u-1',
    '/root/pods/u-1/etc-hosts',
    '/root/pods/u-1/volumes',
    '/root/pods/u-1/plugins',
    '/root/pods/u-1/containers',
    '/root/pods/u-1/containers/main',
    '/root/pods/u-1/containers/main/0badcafe',
    '/logs/default_web_u-1',
    '/logs/default_web_u-1/main',
    '/etc/resolv.conf',
  ])('takes %s, which the agent keeps or the node', (path) => {
    expect(isAtHand(path)).toBe(true);
  });

  it.each([
    '/root/pods/u-1/volumes/kubernetes.io~nfs',
    '/root/pods/u-1/volumes/kubernetes.io~nfs/shares/a',
    '/root/pods/u-1/volume-subpaths/shares/main/0',
    '/root/pods/u-1/plugins/kubernetes.io~empty-dir/data',
    '/root/pods/u-1/containers/main/0badcafe/a',
    '/root/state/u-1.json',
    '/logs/default_web_u-1/main/0.log',
    '/mnt/pods/u-1',
    '/etc/hosts',
  ])('leaves %s to a thread: a disk may make it wait', (path) => {
    expect(isAtHand(path)).toBe(false);
  });
});
