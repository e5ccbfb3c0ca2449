import { describe, expect, it } from 'vitest';
import type { Mount } from '../../../src/model/cri/api.ts';
import type { Container, PodSpec } from '../../../src/model/pod.ts';
import { mountsOf } from '../../../src/runtime/mounts.ts';
import { context, pod, wanted } from '../../marbles/fakes.ts';

const POD = '/root/pods/u-1';
const HOSTS: Mount = { containerPath: '/etc/hosts', hostPath: `${POD}/etc-hosts` };
const LOG: Mount = { containerPath: '/dev/termination-log', hostPath: '/log' };

const VOLUMES: NonNullable<PodSpec['volumes']> = [
  { name: 'e', emptyDir: {} },
  { name: 'h', hostPath: { path: '/srv/h' } },
  { name: 'd', downwardAPI: {} },
  { name: 'c', configMap: { name: 'c' } },
  { name: 's', secret: { secretName: 's' } },
  { name: 'p', projected: {} },
  { name: 'v', persistentVolumeClaim: { claimName: 'v' } },
  { name: 'n', nfs: { server: 'n', path: '/n' } },
  { name: 'r', nfs: { server: 'n', path: '/n', readOnly: true } },
  { name: 'i', image: { reference: 'files:1' } },
];

function mounts(container: Partial<Container>, selinux = false): readonly Mount[] {
  const { facts } = context();
  const node = context(selinux ? { facts: { ...facts, selinux } } : {});
  const given = { terminationMessagePath: '/dev/termination-log', ...container };
  return mountsOf(pod({ spec: { volumes: VOLUMES } }), wanted('main', given), '/log', node);
}

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

const one = (name: string, more: Partial<VolumeMount> = {}): Mount | undefined =>
  mounts({ volumeMounts: [{ name, mountPath: '/x', ...more }] })[0];

describe('mountsOf', () => {
  it.each<{ rule: string; container: Partial<Container>; expected: readonly Mount[] }>([
    {
      rule: 'a container finds the hosts file and the file for its last words, and may write to both',
      container: {},
      expected: [HOSTS, LOG],
    },
    {
      rule: 'a container that mounts something at /etc/hosts itself gets no hosts file',
      container: { volumeMounts: [{ name: 'h', mountPath: '/etc/hosts' }] },
      expected: [one('h', { mountPath: '/etc/hosts' }) ?? {}, LOG],
    },
    {
      rule: 'a container without a terminationMessagePath finds no file for its last words',
      container: { terminationMessagePath: '' },
      expected: [HOSTS],
    },
    {
      rule: 'a terminationMessagePath that does not begin at the root is taken as if it did',
      container: { terminationMessagePath: 'tmp/last' },
      expected: [HOSTS, { ...LOG, containerPath: '/tmp/last' }],
    },
  ])('$rule', ({ container, expected }) => {
    expect(mounts(container)).toEqual(expected);
  });

  it.each<{ rule: string; mount: Mount | undefined; expected: Mount }>([
    {
      rule: 'a hostPath is mounted as it stands in the pod',
      mount: one('h'),
      expected: { containerPath: '/x', hostPath: '/srv/h', readonly: false },
    },
    {
      rule: 'an emptyDir is mounted from its folder below that of the pod',
      mount: one('e'),
      expected: { hostPath: `${POD}/volumes/kubernetes.io~empty-dir/e`, readonly: false },
    },
    {
      rule: 'a mountPath that does not begin at the root is taken as if it did',
      mount: one('e', { mountPath: 'data' }),
      expected: { containerPath: '/data' },
    },
    {
      rule: 'a mount is read-only where it says so',
      mount: one('e', { readOnly: true }),
      expected: { readonly: true },
    },
    {
      rule: 'a mount of a volume that is read-only is so, whatever it says',
      mount: one('r', { readOnly: false }),
      expected: { readonly: true },
    },
    {
      rule: 'a mount is private where it names no mountPropagation',
      mount: one('h'),
      expected: { propagation: 'PROPAGATION_PRIVATE' },
    },
    {
      rule: 'mountPropagation None is private',
      mount: one('h', { mountPropagation: 'None' }),
      expected: { propagation: 'PROPAGATION_PRIVATE' },
    },
    {
      rule: 'mountPropagation HostToContainer lets later mounts of the node in',
      mount: one('h', { mountPropagation: 'HostToContainer' }),
      expected: { propagation: 'PROPAGATION_HOST_TO_CONTAINER' },
    },
    {
      rule: 'mountPropagation Bidirectional lets mounts in and out',
      mount: one('h', { mountPropagation: 'Bidirectional' }),
      expected: { propagation: 'PROPAGATION_BIDIRECTIONAL' },
    },
    {
      rule: 'an image volume is always read-only, and has an image in place of a path',
      mount: one('i', { readOnly: false }),
      expected: { readonly: true, image: { image: '', annotations: {}, userSpecifiedImage: 'files:1' } },
    },
    {
      rule: 'subPath of an image volume is a path in the image',
      mount: one('i', { subPath: 'dir' }),
      expected: { imageSubPath: 'dir' },
    },
    {
      rule: 'a part of a volume is mounted from its place under volume-subpaths',
      mount: one('h', { subPath: 'part' }),
      expected: { hostPath: `${POD}/volume-subpaths/h/main/0` },
    },
  ])('$rule', ({ mount, expected }) => {
    expect(mount).toMatchObject(expected);
  });

  it('volumes made of files of the agent are read-only, whatever the mount says', () => {
    const names = ['d', 'c', 's', 'p'];
    expect(names.map((name) => one(name, { readOnly: false })?.readonly)).toEqual(names.map(() => true));
  });

  describe('where SELinux labels files', () => {
    const all = VOLUMES.map(({ name }) => ({ name, mountPath: `/${name}` }));
    const labelled = (selinux: boolean): readonly (string | undefined)[] =>
      mounts({ volumeMounts: all }, selinux)
        .filter(({ selinuxRelabel }) => selinuxRelabel === true)
        .map(({ containerPath }) => containerPath);

    it('what the agent has made for the pod gets its label, and nothing of the node or of others', () => {
      expect(labelled(true)).toEqual(['/e', '/d', '/c', '/s', '/p', '/v', '/etc/hosts', '/dev/termination-log']);
    });

    it('nothing gets a label where it does not', () => {
      expect(labelled(false)).toEqual([]);
    });
  });
});
