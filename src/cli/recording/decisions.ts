import { messageOf } from '../../model/errors.ts';
import type { Entry, Page, PodBook } from '../../streams/book/pod-book.ts';
import { identityIn } from '../../streams/trace/trace-page.ts';
import type { PodOutcome, PodReport } from '../../streams/workers/pod-work.ts';

/** What a page has decided: the work that it hands out, what it tells, and which phases and statuses are others now. */
export function decisionsOf(before: PodBook, { book, work, notes }: Page): Readonly<Record<string, unknown>> {
  const changed = [...book.entries.values()].filter((entry) => before.entries.get(entry.uid) !== entry);
  const gone = [...before.entries.values()].filter(({ uid }) => !book.entries.has(uid));
  const phases = [
    ...changed
      .filter((entry) => before.entries.get(entry.uid)?.phase !== entry.phase)
      .map((entry) => [nameOf(entry), entry.phase] as const),
    ...gone.map((entry) => [nameOf(entry), 'gone'] as const),
  ];
  const statuses = changed
    .filter((entry) => before.entries.get(entry.uid)?.status !== entry.status)
    .map((entry) => [nameOf(entry), entry.status] as const);
  return {
    ...(work.length > 0 && {
      work: work.map((one) => {
        const { namespace, name, uid } = identityIn(one);
        return {
          do: one.kind,
          pod: `${namespace}/${name}`,
          uid,
          ...(one.kind === 'terminate' && { grace: one.grace }),
        };
      }),
    }),
    ...(notes.length > 0 && { notes }),
    ...(phases.length > 0 && { phases: Object.fromEntries(phases) }),
    ...(statuses.length > 0 && { statuses: Object.fromEntries(statuses) }),
  };
}

/** Two pods of one name may be in the book. */
function nameOf({ of: { namespace, name }, uid }: Entry): string {
  return `${namespace}/${name} (${uid})`;
}

/** What of a report is decided; what was seen is an input, and what is remembered shows in what follows. */
export function decisionIn(report: PodReport): unknown {
  if (report.kind === 'note') return { note: report.note };
  if (report.kind === 'starting') return { starting: report.container };
  return { outcome: outcomeOf(report.outcome) };
}

function outcomeOf(outcome: PodOutcome): unknown {
  switch (outcome.kind) {
    case 'synced': {
      const { kind, waiting, finished, verdict, next } = outcome;
      return { kind, waiting: Object.fromEntries(waiting), finished, ...(verdict && { verdict }), next };
    }
    case 'failed':
      return { kind: outcome.kind, error: messageOf(outcome.error), next: outcome.next };
    case 'prepared':
    case 'ended':
    case 'cleanedUp':
      return { kind: outcome.kind };
  }
}
