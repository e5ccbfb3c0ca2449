import { merge, type Observable } from 'rxjs';
import { emitAll } from '../../operators/emit-all.ts';
import type { PodBook } from '../book/pod-book.ts';
import { nodeSubject, type Happened } from '../events/event-log.ts';
import type { ImageGcNote } from '../image-gc/image-gc.ts';
import type { PodReport } from '../workers/pod-work.ts';

interface Told {
  readonly report$: Observable<PodReport>;
  readonly imageGc$: Observable<ImageGcNote>;
}

/** What happened to pods and to the node, as it is told; `book` gives the last one. Never errors before its sources do. */
export function happenings({ report$, imageGc$ }: Told, book: () => PodBook, nodeName: string): Observable<Happened> {
  return merge(
    report$.pipe(emitAll((report) => podHappening(report, book()))),
    imageGc$.pipe(emitAll((note) => nodeHappening(note, nodeName))),
  );
}

/** Whose it was is known as long as the pod is in the book, and of the last work on it even after that. */
function podHappening(report: PodReport, { entries }: PodBook): readonly Happened[] {
  if (report.kind !== 'note') return [];
  const entry = entries.get(report.uid);
  return entry ? [{ of: entry.of, note: report.note, pod: entry.pod }] : [];
}

function nodeHappening(note: ImageGcNote, nodeName: string): readonly Happened[] {
  if (note.kind !== 'trouble' || !note.isEvent) return [];
  const { reason, message } = note;
  return [{ of: nodeSubject(nodeName), note: { level: 'Warning', reason, message } }];
}
