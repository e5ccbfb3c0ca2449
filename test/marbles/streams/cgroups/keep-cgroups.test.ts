import { of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { expect } from 'vitest';
import type { Pod, PodUid } from '../../../../src/model/pod.ts';
import { emptyBook, type Entry, type PodBook } from '../../../../src/streams/book/pod-book.ts';
import { keepCgroups } from '../../../../src/streams/cgroups/keep-cgroups.ts';
import type { Cgroups } from '../../../../src/streams/ports/cgroups.ts';
import { marbles } from '../../harness.ts';

const EMPTY = emptyBook({ runtimeName: 'fake', hostIps: [], update: 'prepare', statuses: new Map() });

function bookWith(cpu: string, more: Partial<PodBook> = {}): PodBook {
  const uid = 'u' as PodUid;
  const pod: Pod = {
    metadata: { uid, name: 'a', namespace: 'default', labels: {}, annotations: {} },
    spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] },
  };
  const entry = { uid, pod, phase: 'syncing' } as unknown as Entry;
  return { ...EMPTY, entries: new Map([[uid, entry]]), ...more };
}

function recorded(log: string[], children: Readonly<Record<string, readonly string[]>> = {}): Cgroups {
  return {
    apply: (path, { cpuShares }) => {
      log.push(`${path} ${cpuShares ?? ''}`);
      return of(undefined);
    },
    remove: (path, how) => {
      log.push(`remove ${path} ${how}`);
      return path.includes('busy') ? throwError(() => new Error('EBUSY')) : of(undefined);
    },
    children: (path) => of(children[path] ?? []),
  };
}

const LAYOUT = { root: '', driver: 'cgroupfs', fixed: new Map([['/kubepods', { cpuShares: 2_048 }]]) } as const;

describe('keepCgroups', () => {
  it(
    'sets everything at first and every minute, and the weight of burstable pods when they change',
    marbles(({ hot, scheduler }) => {
      const log: string[] = [];
      const book$ = hot('a 9s b', { a: bookWith('1'), b: bookWith('2') });
      keepCgroups(book$, recorded(log), LAYOUT, () => true).subscribe();
      scheduler.schedule(() => {
        expect(log).toEqual([
          '/kubepods/burstable 1024',
          '/kubepods 2048',
          '/kubepods/besteffort 2',
          '/kubepods/burstable 1024',
          '/kubepods/burstable 2048',
        ]);
      }, 20_000);
    }),
  );
});
