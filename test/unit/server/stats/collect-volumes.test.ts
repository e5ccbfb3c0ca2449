import { NEVER, of, throwError, timer, type Observable, mergeMap } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../../../src/model/pod.ts';
import { exposition } from '../../../../src/server/metrics/family.ts';
import type { StatsPorts } from '../../../../src/server/stats/collect.ts';
import {
  volumeLook,
  type CollectedVolume,
  type CollectedVolumes,
} from '../../../../src/server/stats/collect-volumes.ts';
import { volumeFamilies } from '../../../../src/server/stats/volume-families.ts';
import type { PodBook } from '../../../../src/streams/book/pod-book.ts';
import type { TreeUsage } from '../../../../src/streams/ports/node-usage.ts';
import { book, instance } from '../../../marbles/streams/probes/books.ts';
import { parseExposition } from '../../../parse-exposition.ts';

const DISK = { available: 60, capacity: 100, used: 40, inodes: 10, inodesFree: 7 };
const SPEC: PodSpec = {
  containers: [{ name: 'c' }],
  volumes: [
    { name: 'scratch', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
    { name: 'db', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'settings', configMap: { name: 'x' } },
    { name: 'node', hostPath: { path: '/srv' } },
  ],
};

interface Look {
  /** So many looks one after the other, at these times (milliseconds). */
  readonly at?: readonly number[];
  readonly onlyClaims?: boolean;
  readonly tree?: (path: string) => Observable<TreeUsage>;
  readonly pods?: PodBook;
}

interface Seen {
  readonly volumes: readonly CollectedVolume[];
  /** All trees that were counted. */
  readonly counted: readonly string[];
}

const BOOK = book({ uid: 'u', spec: SPEC, seen: [instance('c1')] });

function look({ at = [0], onlyClaims = false, tree = () => of({ bytes: 4, inodes: 2 }), pods = BOOK }: Look): Seen {
  const counted: string[] = [];
  let last: CollectedVolumes = new Map();
  const ports = {
    paths: { rootDir: '/root', podLogsDir: '/logs', containerLinksDir: '/links' },
    usage: {
      disk: (path: string) => of(path.includes('missing') ? undefined : DISK),
      device: (path: string) => of(path.includes('ram') ? 2 : 1),
      tree: (path: string) => {
        counted.push(path);
        return tree(path);
      },
    },
  } as unknown as StatsPorts;
  new TestScheduler(() => undefined).run(({ flush }) => {
    const looks = { volumes: volumeLook() };
    for (const time of at) {
      timer(time)
        .pipe(mergeMap(() => looks.volumes(ports, pods, onlyClaims)))
        .subscribe({
          next: (found) => {
            last = found;
          },
          error: (error: unknown) => counted.push(String(error)),
        });
    }
    flush();
  });
  return { volumes: [...last.values()].flat(), counted };
}

describe('volumeLook', () => {
  it('counts what lies on the disk of the node, and asks a file system of its own', () => {
    const { volumes, counted } = look({});
    const used = { bytes: 4, inodes: 2 };
    expect(volumes).toEqual([
      { name: 'scratch', isEphemeral: true, disk: DISK, used },
      { name: 'ram', isEphemeral: false, disk: DISK, used: { bytes: 40, inodes: 3 } },
      { name: 'db', isEphemeral: false, disk: DISK, used, claim: 'data' },
      { name: 'settings', isEphemeral: true, disk: DISK, used },
    ]);
    expect(counted).toEqual([
      '/root/pods/u/volumes/kubernetes.io~empty-dir/scratch',
      '/root/volumes/default/data',
      '/root/pods/u/volumes/kubernetes.io~configmap/settings',
    ]);
  });

  it('looks at claims only where only they are asked for', () => {
    expect(look({ onlyClaims: true }).counted).toEqual(['/root/volumes/default/data']);
  });

  it('counts a tree once a minute, however often somebody asks', () => {
    expect(look({ at: [0, 10_000, 59_000, 61_000], onlyClaims: true }).counted).toHaveLength(2);
  });

  it.each<[string, Observable<TreeUsage>]>([
    ['takes too long to count', NEVER],
    ['cannot be read', throwError(() => new Error('EIO'))],
  ])('tells how full the disk is where a tree %s', (_what, tree$) => {
    const { volumes } = look({ onlyClaims: true, tree: () => tree$ });
    expect(volumes).toEqual([{ name: 'db', isEphemeral: false, disk: DISK, claim: 'data' }]);
  });

  it('leaves out a folder that is not there yet, and pods that have not begun', () => {
    const spec = { ...SPEC, volumes: [{ name: 'missing', emptyDir: {} }] };
    expect(look({ pods: book({ uid: 'u', spec, seen: [instance('c1')] }) }).volumes).toEqual([]);
    expect(look({ pods: book({ uid: 'u', spec: SPEC, phase: 'waiting' }) }).volumes).toEqual([]);
  });
});

describe('volumeFamilies', () => {
  it('tells each claim once, whoever uses it', () => {
    const pods = book(
      { uid: 'a', spec: SPEC, seen: [instance('c1')] },
      { uid: 'b', spec: SPEC, seen: [instance('c2')] },
    );
    const volume = { name: 'db', isEphemeral: false, disk: DISK, used: { bytes: 4, inodes: 2 }, claim: 'data' };
    const uids = [...pods.entries.keys()];
    const text = exposition(volumeFamilies(new Map(uids.map((uid) => [uid, [volume]])), pods));
    const told = [...parseExposition(text).values()].map(({ name, samples }) => [
      name,
      samples[0]?.value,
      samples.length,
    ]);
    expect(told).toEqual([
      ['kubelet_volume_stats_capacity_bytes', 100, 1],
      ['kubelet_volume_stats_available_bytes', 60, 1],
      ['kubelet_volume_stats_used_bytes', 4, 1],
      ['kubelet_volume_stats_inodes', 10, 1],
      ['kubelet_volume_stats_inodes_free', 7, 1],
      ['kubelet_volume_stats_inodes_used', 2, 1],
    ]);
  });
});
