import { of, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Container } from '../../../src/model/pod.ts';
import { makeTerminationLog, nextAttemptByLogs, preparePodFiles, writeHosts } from '../../../src/runtime/pod-files.ts';
import { VolumeError } from '../../../src/runtime/volumes/volume-error.ts';
import type { PerformContext } from '../../../src/runtime/perform-context.ts';
import type { Files } from '../../../src/streams/ports/files.ts';
import { context, fakeFiles, pod, podWith } from '../fakes.ts';

/** What a work did on the disk, what it emitted and what it failed with. */
function run<T>(work: (ground: PerformContext) => Observable<T>, answers: Partial<Files> = {}) {
  const log: string[] = [];
  const texts = new Map([['/etc/hosts', '127.0.0.1\tlocalhost\n']]);
  const emitted: T[] = [];
  let error: unknown;
  let isComplete = false;
  work(context({ log, files: fakeFiles(log, answers, texts) })).subscribe({
    next: (value) => emitted.push(value),
    error: (failure: unknown) => {
      error = failure;
    },
    complete: () => {
      isComplete = true;
    },
  });
  return { log, texts, emitted, error, isComplete };
}

describe('preparePodFiles', () => {
  it('makes the folders of the pod, of its logs and of its volumes, and emits nothing', () => {
    const of$ = podWith([{ name: 'e', emptyDir: {} }]);
    const { log, emitted, isComplete } = run((ground) => preparePodFiles(of$, ground));
    expect(log).toEqual([
      'makeDir /root/pods/u-1',
      'makeDir /root/pods/u-1/volumes',
      'makeDir /root/pods/u-1/plugins',
      'makeDir /logs/default_web_u-1',
      'typeOf /root/pods/u-1/plugins/kubernetes.io~empty-dir/e/ready',
      'typeOf /root/pods/u-1/volumes/kubernetes.io~empty-dir/e',
      'makeDir /root/pods/u-1/volumes/kubernetes.io~empty-dir/e',
      'setMode /root/pods/u-1/volumes/kubernetes.io~empty-dir/e',
      'makeDir /root/pods/u-1/plugins/kubernetes.io~empty-dir',
      'makeDir /root/pods/u-1/plugins/kubernetes.io~empty-dir/e',
      'writeFile /root/pods/u-1/plugins/kubernetes.io~empty-dir/e/ready',
    ]);
    expect({ emitted, isComplete }).toEqual({ emitted: [], isComplete: true });
  });

  it('makes the log folder of a pod with mode 0755, and its own folder with mode 0750', () => {
    const modes = new Map<string, number | undefined>();
    const makeDir: Files['makeDir'] = (path, mode) => {
      modes.set(path, mode);
      return of(undefined);
    };
    run((ground) => preparePodFiles(pod(), ground), { makeDir });
    expect([modes.get('/logs/default_web_u-1'), modes.get('/root/pods/u-1')]).toEqual([0o755, 0o750]);
  });

  it('makes every failure of the disk one of its volumes', () => {
    const full: Partial<Files> = { makeDir: () => throwError(() => new Error('ENOSPC: disk full')) };
    expect(run((ground) => preparePodFiles(pod(), ground), full).error).toEqual(
      new VolumeError(['ENOSPC: disk full'], new Map()),
    );
  });
});

describe('writeHosts', () => {
  it('the hosts file of the pod has its addresses under its host name', () => {
    const { texts } = run((ground) => writeHosts(pod({ spec: { hostname: 'mine' } }), ['10.0.0.7'], ground));
    expect(texts.get('/root/pods/u-1/etc-hosts')).toContain('\n10.0.0.7\tmine\n');
  });

  it('the hosts file of a pod on the network of the node is copied from the node', () => {
    const { texts } = run((ground) => writeHosts(pod({ spec: { hostNetwork: true } }), [], ground));
    expect(texts.get('/root/pods/u-1/etc-hosts')).toBe(
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n',
    );
  });

  it.each([
    ['every container', [covering('init')], [covering('main')], false],
    ['one of two', [], [covering('main'), covering('side', '/etc/hosts.d')], true],
    ['an init container alone', [covering('init')], [covering('main', '/etc')], true],
  ])(
    'no hosts file is written where nobody would see it: %s brings its own',
    (_who, initContainers, containers, isWritten) => {
      const { texts } = run((ground) =>
        writeHosts(pod({ spec: { initContainers, containers } }), ['10.0.0.7'], ground),
      );
      expect(texts.has('/root/pods/u-1/etc-hosts')).toBe(isWritten);
    },
  );

  it('the hosts file has the mode 0644 and is written in place, for running containers have it mounted', () => {
    const options: unknown[] = [];
    const writeFile: Files['writeFile'] = (_path, _content, how) => {
      options.push(how);
      return of(undefined);
    };
    run((ground) => writeHosts(pod(), [], ground), { writeFile });
    expect(options).toEqual([{ mode: 0o644, inPlace: true }]);
  });
});

describe('makeTerminationLog', () => {
  it('each start gives a container an empty file of the mode 0666 for its last words, with a name by chance', () => {
    const written: unknown[] = [];
    const writeFile: Files['writeFile'] = (...how) => {
      written.push(how);
      return of(undefined);
    };
    const { emitted } = run((ground) => makeTerminationLog(pod(), 'main', () => 0.5, ground), { writeFile });
    const path = '/root/pods/u-1/containers/main/80000000';
    expect(emitted).toEqual([path]);
    expect(written).toEqual([[path, '', { mode: 0o666 }]]);
  });

  it('the file for the last words has a name of eight hexadecimal digits', () => {
    const named = (random: number) =>
      run((ground) => makeTerminationLog(pod(), 'main', () => random, ground)).emitted[0];
    expect(named(0)).toBe('/root/pods/u-1/containers/main/00000000');
    expect(named(1 - 2 ** -40)).toBe('/root/pods/u-1/containers/main/ffffffff');
  });
});

describe('nextAttemptByLogs', () => {
  it('counts a container without a trace in the runtime one above its highest log file, and from 0 without one', () => {
    const list: Files['list'] = () => of(['0.log', '7.log', '7.log.20260101-000000.gz', 'core']);
    expect(run((ground) => nextAttemptByLogs(pod(), 'main', ground), { list }).emitted).toEqual([8]);
    expect(run((ground) => nextAttemptByLogs(pod(), 'main', ground)).emitted).toEqual([0]);
  });

  it.each<[readonly string[], number]>([
    [[], 0],
    [['0.log'], 1],
    [['0.log', '10.log', '9.log'], 11],
    [['3.log.20260101-000000.gz'], 4],
    [['core', 'x.log'], 0],
  ])('after %j is %d', (names, attempt) => {
    const list: Files['list'] = (path) => of(path === '/logs/default_web_u-1/main' ? names : ['99.log']);
    expect(run((ground) => nextAttemptByLogs(pod(), 'main', ground), { list }).emitted).toEqual([attempt]);
  });
});

function covering(name: string, mountPath = '/etc/hosts'): Container {
  return { name, volumeMounts: [{ name: 'h', mountPath }] };
}
