import type { Terminal } from '../terminal.ts';
import { count } from '../commands/count.ts';
import { LOOKS, painter } from '../commands/paint.ts';
import { axisLine, trackLine, trackSheet } from '../commands/track-sheet.ts';
import { wrap } from '../commands/wrap.ts';
import { briefDuration } from './brief-duration.ts';
import type { Outcome, PodOutcome, Span } from './outcome.ts';
import { STATES, type PodState } from './pod-state.ts';
import { MARKS, stateTrack } from './state-track.ts';

/** What came of a run, as lines for people. */
export function renderOutcome(outcome: Outcome, terminal: Terminal): readonly string[] {
  const { pods, seed, seconds } = outcome;
  const restarts = pods.reduce((sum, pod) => sum + pod.restarts, 0);
  const calls = Object.values(outcome.calls).reduce((sum, one) => sum + one, 0);
  const paint = painter(terminal);
  const title = `${duration(seconds)} with seed ${seed}: ${count(pods.length, 'pod')}, ${count(restarts, 'restart')}, ${count(calls, 'call')}`;
  return [
    ...(outcome.problems.length > 0 ? [...problemLines(outcome, terminal.columns), ''] : []),
    paint(LOOKS.bold, title),
    '',
    ...rows(outcome, terminal),
    ...pods.flatMap((pod) => ['', ...podLines(pod, terminal)]),
    '',
    ...field('node', countsOf(nodeCalls(outcome)), terminal.columns, ''),
    ...section('Steps', stepLines(outcome, terminal.columns)),
    ...section('Expectations', verdictLines(outcome, terminal)),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

function problemLines({ problems }: Outcome, columns: number): readonly string[] {
  return problems.flatMap(({ message, from, to }) => {
    const since = from < 1 ? '' : ` (from ${duration(from)})`;
    const until = to === undefined ? '' : ` (mended at ${duration(to)})`;
    return wrap(`${message}${since}${until}`, columns, '', '  ');
  });
}

/** A row for each pod, and where there is something to see in them for the agent and the steps. */
function rows(outcome: Outcome, terminal: Terminal): readonly string[] {
  const { pods, steps, agent, seconds } = outcome;
  const sheet = trackSheet([...pods.map(shortName), 'agent', 'steps'], terminal.columns, 12);
  const { side, gap, width } = sheet;
  const ticks = (width >= 40 ? [0, 1, 2, 3] : [0]).map((quarter) => ({
    at: quarter / 4,
    text: duration((seconds * quarter) / 4),
  }));
  const crashed = agent.some(({ to }) => to !== undefined);
  return [
    `${' '.repeat(side)}${gap}${axisLine(width, ticks, duration(seconds))}`,
    ...pods.map((pod) => trackLine(sheet, shortName(pod), coloured(stateTrack(pod, seconds, width), terminal))),
    ...(crashed ? [trackLine(sheet, 'agent', agentTrack(agent, seconds, width))] : []),
    ...(steps.length > 0 ? [trackLine(sheet, 'steps', stepTrack(outcome, width))] : []),
    '',
    ...wrap(legend(pods, crashed), terminal.columns, '', ''),
  ];
}

function coloured(track: string, terminal: Terminal): string {
  const paint = painter(terminal);
  return terminal.colour ? track.replace(/[x~!?]+/g, (part) => paint(LOOKS.red, part)) : track;
}

function agentTrack(spans: readonly Span[], seconds: number, width: number): string {
  const states = spans.flatMap(({ from, to }) => [
    { at: from, state: 'ready' as const },
    ...(to === undefined ? [] : [{ at: to, state: 'absent' as const }]),
  ]);
  return stateTrack(
    { states, starts: spans.map(({ from }) => ({ at: from, container: '' })), ends: [] },
    seconds,
    width,
  );
}

/** Steps by their numbers, as they are listed. */
function stepTrack({ steps, seconds }: Outcome, width: number): string {
  const cells = Array.from({ length: width }, () => ' ');
  for (const [index, { at }] of steps.entries()) {
    const place = Math.min(width - 1, Math.floor((at / seconds) * width));
    cells[place] = String((index + 1) % 10);
  }
  return cells.join('').trimEnd();
}

/** Only what there is to see. */
function legend(pods: readonly PodOutcome[], crashed: boolean): string {
  const seen = new Set(pods.flatMap(({ states }) => states.map(({ state }) => state)));
  const states = (Object.keys(STATES) as PodState[])
    .filter((state) => state !== 'absent' && seen.has(state))
    .map((state) => `${STATES[state].symbol} ${STATES[state].meaning}`);
  const marks = [
    ...(pods.some(({ starts }) => starts.length > 0) ? [`s ${MARKS.s}`] : []),
    ...(pods.some(({ ends }) => ends.some(({ exitCode }) => exitCode === 0)) ? [`o ${MARKS.o}`] : []),
    ...(pods.some(({ ends }) => ends.some(({ exitCode }) => exitCode !== 0)) ? [`x ${MARKS.x}`] : []),
  ];
  return [...states, ...marks, ...(crashed ? ['agent: s started'] : [])].join(', ');
}

function podLines(pod: PodOutcome, terminal: Terminal): readonly string[] {
  const { phase = 'gone', ready, restarts, note, containers } = pod;
  const paint = painter(terminal);
  const readiness = phase === 'Running' ? [ready ? 'ready' : 'not ready'] : [];
  const title = `${shortName(pod)}: ${[phase, ...readiness, count(restarts, 'restart')].join(', ')}`;
  const waiting = containers
    .filter(({ state, reason }) => state === 'waiting' && reason !== undefined)
    .map(({ name, reason }) => `${name} ${reason ?? ''}`);
  const fields = [
    ['note', note ?? ''],
    ['waits', waiting.join(', ')],
    ['back-offs', backOffs(pod)],
    ['ends', ends(pod)],
    ['events', countsOf(Object.fromEntries(eventCounts(pod)))],
    ['calls', countsOf(pod.calls)],
  ] as const;
  return [paint(LOOKS.bold, title), ...fields.flatMap(([name, text]) => field(name, text, terminal.columns))];
}

const WIDEST = 'back-offs'.length;

function field(name: string, text: string, columns: number, indent = '  '): readonly string[] {
  if (text === '') return [];
  const before = `${indent}${name.padEnd(WIDEST)}  `;
  return wrap(text, columns, before, ' '.repeat(before.length));
}

/** `app: 10s 20s 40s 5m x3`. */
function backOffs({ backOffs: spans }: PodOutcome): string {
  const names = [...new Set(spans.map(({ container, reason }) => `${container} ${reason}`))];
  return names
    .map((name) => {
      const times = spans
        .filter(({ container, reason }) => `${container} ${reason}` === name)
        .map(({ from, to }) => (to === undefined ? 'and on' : duration(Math.round(to - from))));
      return `${name} ${repeats(times)}`;
    })
    .join(', ');
}

function ends({ ends: all }: PodOutcome): string {
  const texts = all.map(({ container, exitCode, reason }) => `${container} ${exitCode} ${reason}`);
  const counts = [...new Set(texts)].map((text) => [text, texts.filter((one) => one === text).length] as const);
  return counts.map(([text, times]) => (times === 1 ? text : `${text} x${times}`)).join(', ');
}

/** Equal ones in a row once, with their number. */
function repeats(texts: readonly string[]): string {
  const groups: { readonly text: string; times: number }[] = [];
  for (const text of texts) {
    const last = groups.at(-1);
    if (last?.text === text) last.times += 1;
    else groups.push({ text, times: 1 });
  }
  return groups.map(({ text, times }) => (times === 1 ? text : `${text} x${times}`)).join(' ');
}

function eventCounts({ events }: PodOutcome): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { reason, count: times } of events) counts.set(reason, (counts.get(reason) ?? 0) + times);
  return counts;
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ');
}

/** Calls to the runtime that are about no pod in particular. */
function nodeCalls({ calls, pods }: Outcome): Readonly<Record<string, number>> {
  const rest = Object.entries(calls)
    .filter(([name]) => !name.includes('.'))
    .map(([name, all]) => [name, all - pods.reduce((sum, pod) => sum + (pod.calls[name] ?? 0), 0)] as const);
  return Object.fromEntries(rest.filter(([, number]) => number > 0));
}

function stepLines({ steps }: Outcome, columns: number): readonly string[] {
  return steps.flatMap(({ at, text, problem }, index) => {
    const before = `${String(index + 1).padStart(3)}  ${duration(at).padEnd(8)}  `;
    const full = problem === undefined ? text : `${text}: no effect, ${problem}`;
    return wrap(full, columns, before, ' '.repeat(before.length));
  });
}

function verdictLines({ expectations }: Outcome, terminal: Terminal): readonly string[] {
  const paint = painter(terminal);
  return expectations.flatMap(({ at, text, isMet, found, line }) => {
    const before = `  ${(isMet ? 'met' : 'not met').padEnd(7)}  ${duration(at).padEnd(8)}  `;
    const full = isMet ? text : `${text} (line ${line}): ${found ?? 'it is otherwise'}`;
    const lines = wrap(full, terminal.columns, before, ' '.repeat(before.length));
    return lines.map((one) => paint(isMet ? LOOKS.green : LOOKS.red, one));
  });
}

function shortName({ namespace, name }: PodOutcome): string {
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

function duration(seconds: number): string {
  return briefDuration(seconds * 1_000);
}
