import { messageOf } from '../model/errors.ts';
import type { PodIdentity } from '../model/paths.ts';
import { formatGoDuration } from '../model/restart/backoff.ts';
import type { PodBook } from '../streams/book/pod-book.ts';
import type { CheckpointFailure } from '../streams/checkpoints/checkpoints.ts';
import type { HousekeepingNote } from '../streams/housekeeping/housekeeping.ts';
import type { ImageGcNote } from '../streams/image-gc/image-gc.ts';
import type { PlegHealth } from '../streams/pleg/pleg.ts';
import type { RotationNote } from '../streams/logs/rotate-logs.ts';
import type { RuntimeState } from '../streams/runtime-state/runtime-state.ts';
import type { PodReport } from '../streams/workers/pod-work.ts';
import type { LogLevel, LogLine } from './log-line.ts';

/** Steps that go without saying when all is well. */
const ROUTINE: ReadonlySet<string> = new Set(['Created', 'Pulled']);

/** How a pull went, and how long it took, is news; that an image was there is not. */
const PULLED = 'Successfully pulled ';

/** What the work on a pod is worth in the log; nothing for outcomes that are as wished. */
export function reportLine(report: PodReport, book: PodBook): LogLine | undefined {
  const of = book.entries.get(report.uid)?.of ?? ownerIn(report);
  const pod = of ? `${of.namespace}/${of.name}` : report.uid;
  if (report.kind === 'note') {
    const { level, reason, message, container, nextTry } = report.note;
    return {
      level: levelOf(level, reason, message),
      message,
      fields: {
        pod,
        ...(container ? { container } : {}),
        reason,
        ...(nextTry === undefined ? {} : { nextTry: formatGoDuration(nextTry) }),
      },
    };
  }
  if (report.kind === 'starting') return undefined;
  const { outcome } = report;
  switch (outcome.kind) {
    case 'failed': {
      const message = `${DOING[outcome.work.kind]} failed and is tried again: ${messageOf(outcome.error)}`;
      return { level: 'warn', message, fields: { pod } };
    }
    case 'cleanedUp':
      return { level: 'info', message: 'the pod is gone', fields: { pod } };
    case 'synced':
    case 'prepared':
    case 'ended':
      return {
        level: 'debug',
        message: outcome.kind,
        fields: { pod, why: 'why' in outcome.work ? outcome.work.why : '' },
      };
  }
}

/** A pod that is gone is in the book no more, but its last work says whose it was. */
function ownerIn(report: PodReport): PodIdentity | undefined {
  return report.kind === 'outcome' && 'of' in report.outcome.work ? report.outcome.work.of : undefined;
}

const DOING = {
  sync: 'the sync',
  prepare: 'preparing the new version',
  terminate: 'ending the pod',
  cleanUp: 'the clean-up',
} as const;

export function housekeepingLine({ ok, path, message }: HousekeepingNote): LogLine {
  return { level: ok ? 'info' : 'warn', message, fields: { path } };
}

export function rotationLine({ ok, path, message }: RotationNote): LogLine {
  return { level: ok ? 'debug' : 'warn', message: `log ${message}`, fields: { path } };
}

export function imageGcLine(note: ImageGcNote): LogLine {
  if (note.kind === 'trouble') return { level: 'warn', message: note.message, fields: { reason: note.reason } };
  if (note.kind === 'cleared') {
    const { pod, container } = note;
    const fields = { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, container: container.name };
    return { level: 'info', message: 'removed a container that has ended to make room', fields };
  }
  const why = note.reason === 'age' ? 'that was unused for too long' : 'to make room';
  const { names, id, size } = note.image;
  return { level: 'info', message: `removed an image ${why}`, fields: { image: names[0] ?? id, bytes: size } };
}

export function checkpointLine({ uid, message }: CheckpointFailure): LogLine {
  return { level: 'warn', message: `the state of a pod could not be kept: ${message}`, fields: { uid } };
}

export function runtimeLine({ ready, networkReady, message, name, version }: RuntimeState): LogLine {
  return ready && networkReady
    ? { level: 'info', message: 'the container runtime is ready', fields: { runtime: name, version } }
    : { level: 'warn', message: `the container runtime is not ready: ${message}` };
}

export function plegLine({ healthy, message }: PlegHealth): LogLine {
  return healthy
    ? { level: 'debug', message: 'PLEG is healthy' }
    : { level: 'error', message: `PLEG is not healthy: ${message}` };
}

function levelOf(level: 'Normal' | 'Warning', reason: string, message: string): LogLevel {
  if (level === 'Warning') return 'warn';
  const isRoutine = ROUTINE.has(reason) && !message.startsWith(PULLED);
  return isRoutine ? 'debug' : 'info';
}
