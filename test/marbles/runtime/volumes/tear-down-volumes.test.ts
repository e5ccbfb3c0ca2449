import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { releaseVolumes, unmountVolumes } from '../../../../src/runtime/volumes/tear-down-volumes.ts';
import type { Mounts } from '../../../../src/streams/ports/mounts.ts';
import { context, fakeFiles, fakeMounts, UID } from '../../fakes.ts';

const POD = '/root/pods/u-1';

function run(targets: readonly string[], work: typeof unmountVolumes, answers: Partial<Mounts> = {}) {
  const log: string[] = [];
  let error: unknown;
  const below: Mounts['below'] = () => of(targets.map((target) => ({ target: POD + target, type: 'tmpfs' })));
  const ground = context({ files: fakeFiles(log), mounts: fakeMounts(log, { below, ...answers }) });
  work(UID, ground).subscribe({
    error: (failure: unknown) => {
      error = failure;
    },
  });
  return { log: log.map((call) => call.replace(POD, '')), error };
}

describe('unmountVolumes', () => {
  it('parts of volumes are unmounted before volumes, the last mounted first', () => {
    const { log } = run(
      [
        '/volumes/kubernetes.io~empty-dir/a',
        '/volume-subpaths/a/main/0',
        '/volumes/kubernetes.io~nfs/b',
        '/volume-subpaths/b/main/1',
        '/volume-subpaths/b/main/1',
      ],
      unmountVolumes,
    );
    expect(log).toEqual([
      'below ',
      'unmount /volume-subpaths/b/main/1',
      'unmount /volume-subpaths/b/main/1',
      'unmount /volume-subpaths/a/main/0',
      'unmount /volumes/kubernetes.io~nfs/b',
      'unmount /volumes/kubernetes.io~empty-dir/a',
    ]);
  });

  it('what somebody else has mounted inside of a volume or of the folder of the pod is left', () => {
    const { log } = run(
      ['/volumes/kubernetes.io~empty-dir/a/disk', '/containers/main', '', '/volumes', '/volume-subpaths/a/main/0/in'],
      unmountVolumes,
    );
    expect(log).toEqual(['below ']);
  });

  it('a volume that cannot be unmounted fails the clean-up, and no other is tried', () => {
    const busy = new Error('unmount failed: target is busy');
    const { log, error } = run(['/volumes/kubernetes.io~nfs/b', '/volumes/kubernetes.io~empty-dir/a'], unmountVolumes, {
      unmount: () => throwError(() => busy),
    });
    expect(error).toBe(busy);
    expect(log).toEqual(['below ', 'unmount /volumes/kubernetes.io~empty-dir/a']);
  });
});

describe('releaseVolumes', () => {
  it('the volumes of a pod that is done for good are unmounted and removed, the rest of the pod stays', () => {
    expect(run(['/volumes/kubernetes.io~empty-dir/a'], releaseVolumes).log).toEqual([
      'below ',
      'unmount /volumes/kubernetes.io~empty-dir/a',
      'removeTree /volume-subpaths',
      'removeTree /volumes/kubernetes.io~empty-dir',
      'removeTree /plugins/kubernetes.io~empty-dir',
    ]);
  });
});
