import type { TraceEvent } from '../../streams/trace/trace-event.ts';
import type { Terminal } from '../terminal.ts';
import { LOOKS, painter } from './paint.ts';
import { wrap } from './wrap.ts';

/** An event as lines: time (UTC), kind, pod, what. Long ones are broken to the width of the terminal. */
export function renderTrace(event: TraceEvent, terminal: Terminal): readonly string[] {
  const time = new Date(event.at).toISOString().slice(11, 23);
  const pod = 'pod' in event ? nameOf(event.pod) : '';
  const before = `${time}  ${event.kind.padEnd(WIDEST)}  `;
  const text = [pod, said(event)].filter((part) => part !== '').join(' ');
  const lines = wrap(text, terminal.columns, before, ' '.repeat(before.length));
  const paint = painter(terminal);
  if (isWrong(event)) return lines.map((line) => paint(LOOKS.yellow, line));
  return DIM.has(event.kind) ? lines.map((line) => paint(LOOKS.dim, line)) : lines;
}

const WIDEST = 'sighting'.length;

/** What goes on all the time. */
const DIM: ReadonlySet<TraceEvent['kind']> = new Set(['relist', 'snapshot', 'call', 'probe', 'wake']);

function nameOf({
  uid,
  name,
  namespace,
}: {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}): string {
  if (name === '') return uid;
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

function isWrong(event: TraceEvent): boolean {
  switch (event.kind) {
    case 'call':
    case 'outcome':
      return event.outcome === 'failed';
    case 'note':
      return event.level === 'Warning';
    case 'relist':
      return event.failed;
    case 'probe':
      return event.result === 'failed';
    case 'problem':
      return !event.mended;
    case 'gap':
      return true;
    case 'change':
    case 'object':
    case 'hint':
    case 'sighting':
    case 'snapshot':
    case 'finding':
    case 'wake':
    case 'signal':
    case 'phase':
    case 'work':
    case 'plan':
    case 'begin':
      return false;
  }
}

function said(event: TraceEvent): string {
  switch (event.kind) {
    case 'change':
      return `${event.op} by ${event.source}${because(event.why)}`;
    case 'object':
      return event.object;
    case 'hint':
    case 'wake':
      return '';
    case 'sighting':
      return event.containers.length === 0 ? 'no containers' : event.containers.join(', ');
    case 'relist':
      return `${event.failed ? 'failed after ' : ''}${milliseconds(event.took)}`;
    case 'snapshot':
      return `${event.pods} ${event.pods === 1 ? 'pod' : 'pods'}`;
    case 'probe':
      return `${event.probe} of ${event.container}: ${event.result}, ${milliseconds(event.took)}`;
    case 'finding':
      return `${event.container}: ${event.started ? '' : 'not '}started, ${event.ready ? '' : 'not '}ready`;
    case 'signal':
      return SIGNALS[event.signal];
    case 'problem':
      return `${event.mended ? 'mended: ' : ''}${event.message}`;
    case 'phase':
      return `${event.from} -> ${event.to}${because(event.why)}`;
    case 'work':
      return `${event.work}${because(event.why)}`;
    case 'plan':
      return event.steps.join(', ');
    case 'begin':
      return event.work;
    case 'call': {
      const of = [event.call, event.container, event.image].filter((part) => part !== undefined).join(' ');
      return `${of}, ${ENDINGS[event.outcome]}${milliseconds(event.took)}${because(event.error)}`;
    }
    case 'note':
      return `${event.reason}${event.container === undefined ? '' : ` {${event.container}}`}${because(event.message)}`;
    case 'outcome': {
      const next = event.next === undefined ? '' : `, next in ${(event.next / 1_000).toFixed(1)} s`;
      const waiting = event.waiting ? `, waits: ${event.waiting.join(', ')}` : '';
      return `${event.work} ${event.outcome} after ${milliseconds(event.took)}${next}${waiting}${because(event.error)}`;
    }
    case 'gap':
      return `${event.lost} events went by unread`;
  }
}

const SIGNALS = {
  allSeen: 'every source has been heard',
  runtimeReady: 'the container runtime is ready',
  drain: 'all pods are to end',
} as const;

const ENDINGS = { done: '', failed: 'failed after ', cut: 'cut short after ' } as const;

function because(why: string | undefined): string {
  return why === undefined || why === '' ? '' : `: ${why}`;
}

function milliseconds(took: number): string {
  return `${took < 10 ? Number(took.toFixed(1)) : Math.round(took)} ms`;
}
