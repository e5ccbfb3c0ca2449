import type { TraceEvent } from '../../streams/trace/trace-event.ts';

/** One thing on the line of a stream. */
export interface Mark {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** One character. */
  readonly symbol: string;
  /** When what ends here has begun; absent: it took no time. */
  readonly since?: number;
}

/** A stream and what was on it, in order. `openSince`: what began then has not ended yet. */
export interface MarbleRow {
  readonly label: string;
  readonly marks: readonly Mark[];
  readonly openSince?: number;
}

interface Draft {
  readonly label: string;
  readonly marks: Mark[];
  openSince?: number;
}

/** What the symbols mean, for those who look; letters are initials where nothing else is said. */
export const LEGEND: readonly string[] = [
  'o done, x failed, / cut short, = under way; problems: x new, o mended',
  'changes: add, update, remove, delete, c reconcile, o of an object',
  'phases: preparing, waiting, refused, syncing, finished, terminating, ended, gone',
  'pods: prepare, sync, terminate, clean up; outcomes: as phases, c cleaned up',
];

/**
 * Sorts events by stream: first what comes in, then what is decided, then one row per pod that was worked on, and one
 * per kind of call to the runtime.
 */
export function marbleRows(events: readonly TraceEvent[]): readonly MarbleRow[] {
  const streams = new Map(STREAMS.map((label): [string, Draft] => [label, { label, marks: [] }]));
  const pods = new Map<string, Draft>();
  const calls = new Map<string, Draft>();
  for (const event of events) {
    const mark = streamMark(event);
    if (mark) streams.get(mark.stream)?.marks.push({ at: event.at, symbol: mark.symbol });
    if (event.kind === 'begin') {
      const row = rowOf(pods, podLabel(event.pod));
      row.marks.push({ at: event.at, symbol: WORKS[event.work] });
      row.openSince = event.at;
    }
    if (event.kind === 'outcome') {
      const row = rowOf(pods, podLabel(event.pod));
      row.marks.push({ at: event.at, symbol: ending(event.outcome), since: event.at - event.took });
      delete row.openSince;
    }
    if (event.kind === 'call') {
      const symbol = ending(event.outcome);
      rowOf(calls, event.call).marks.push({ at: event.at, symbol, since: event.at - event.took });
    }
  }
  return [...streams.values(), ...sorted(pods), ...sorted(calls)];
}

const STREAMS = ['changes', 'problems', 'hints', 'sightings', 'relists', 'probes', 'phases', 'outcomes'] as const;

const WORKS = { prepare: 'p', sync: 's', terminate: 't', cleanUp: 'c' } as const;
const OPS = { add: 'a', update: 'u', remove: 'r', delete: 'd', reconcile: 'c' } as const;
const RESULTS = { successful: 'o', failed: 'x', unknown: '?' } as const;

function streamMark(
  event: TraceEvent,
): { readonly stream: (typeof STREAMS)[number]; readonly symbol: string } | undefined {
  switch (event.kind) {
    case 'change':
      return { stream: 'changes', symbol: OPS[event.op] };
    case 'object':
      return { stream: 'changes', symbol: 'o' };
    case 'problem':
      return { stream: 'problems', symbol: event.mended ? 'o' : 'x' };
    case 'hint':
      return { stream: 'hints', symbol: 'o' };
    case 'sighting':
      return { stream: 'sightings', symbol: 'o' };
    case 'relist':
      return { stream: 'relists', symbol: event.failed ? 'x' : 'o' };
    case 'probe':
      return { stream: 'probes', symbol: RESULTS[event.result] };
    case 'phase':
      return { stream: 'phases', symbol: event.to.charAt(0) };
    case 'outcome':
      return { stream: 'outcomes', symbol: OUTCOMES[event.outcome] };
    case 'snapshot':
    case 'finding':
    case 'wake':
    case 'signal':
    case 'work':
    case 'plan':
    case 'begin':
    case 'call':
    case 'note':
    case 'gap':
      return undefined;
  }
}

const OUTCOMES = {
  synced: 's',
  finished: 'f',
  prepared: 'p',
  ended: 'e',
  cleanedUp: 'c',
  failed: 'x',
  cut: '/',
} as const;

function ending(outcome: string): string {
  if (outcome === 'failed') return 'x';
  return outcome === 'cut' ? '/' : 'o';
}

function rowOf(rows: Map<string, Draft>, label: string): Draft {
  const row = rows.get(label) ?? { label, marks: [] };
  rows.set(label, row);
  return row;
}

function podLabel({ uid, name, namespace }: Extract<TraceEvent, { kind: 'begin' }>['pod']): string {
  if (name === '') return uid;
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

/** So that rows keep their places while they are redrawn. */
function sorted(rows: ReadonlyMap<string, Draft>): readonly Draft[] {
  return [...rows.values()].toSorted((a, b) => (a.label < b.label ? -1 : 1));
}
