import { describe, it } from 'vitest';
import type { PodUid } from '../../../../src/model/pod.ts';
import { happenings } from '../../../../src/streams/agent/happenings.ts';
import { nodeSubject, type Happened } from '../../../../src/streams/events/event-log.ts';
import type { ImageGcNote } from '../../../../src/streams/image-gc/image-gc.ts';
import type { PodNote, PodReport } from '../../../../src/streams/workers/pod-work.ts';
import { book, specOf } from '../probes/books.ts';
import { marbles } from '../../harness.ts';

const NOTE: PodNote = { level: 'Normal', reason: 'Started', message: 'Container started' };

function report(uid: string): PodReport {
  return { kind: 'note', uid: uid as PodUid, note: NOTE };
}

function trouble(isEvent: boolean): ImageGcNote {
  return { kind: 'trouble', reason: 'FreeDiskSpaceFailed', message: 'full', isEvent };
}

describe('happenings', () => {
  it(
    'tells notes of pods that are known with whose they are, and troubles of the node that are worth an event',
    marbles(({ hot, expectObservable }) => {
      const known = book({ uid: 'u', spec: specOf({}) });
      const entry = known.entries.get('u' as PodUid);
      const report$ = hot<PodReport>(' kus--', {
        k: report('u'),
        u: report('unknown'),
        s: { kind: 'starting', uid: 'u' as PodUid, container: 'c' },
      });
      const imageGc$ = hot<ImageGcNote>('---tl', { t: trouble(true), l: trouble(false) });
      const expected = '                 k--t-';
      const values: Readonly<Record<string, Happened>> = {
        k: { of: { uid: 'u' as PodUid, name: 'p', namespace: 'default' }, note: NOTE, pod: entry?.pod },
        t: { of: nodeSubject('n1'), note: { level: 'Warning', reason: 'FreeDiskSpaceFailed', message: 'full' } },
      };
      expectObservable(happenings({ report$, imageGc$ }, () => known, 'n1')).toBe(expected, values);
    }),
  );
});
