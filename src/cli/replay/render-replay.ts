import { formatAge } from '../commands/format-age.ts';
import { count } from '../commands/count.ts';
import type { Difference } from './differences.ts';
import type { Divergence, Replayed } from './replay.ts';

/** Differences that are shown. */
const SHOWN = 20;

/** What came of a replay, for people; ends with a line break. */
export function renderReplay(replayed: Replayed): string {
  const { header, lines, lasted, inputs, decisions, isCut, divergence } = replayed;
  const text = [
    `recorded by rxlet ${header.rxlet} on ${header.node}, ${timeOf(header.at)}, for ${formatAge(lasted)}`,
    `replayed ${count(lines, 'line')}: ${count(inputs, 'input')}, ${count(decisions, 'decision')}`,
    ...(isCut ? ['the recording ends in the midst of a line, which was left out'] : []),
    ...(divergence ? divergenceLines(divergence, header.at) : ['equal: all is decided as it was then']),
  ];
  return `${text.join('\n')}\n`;
}

function divergenceLines(
  { at, line, pod, then, now, differences, before }: Divergence,
  began: number,
): readonly string[] {
  const more = differences.length - SHOWN;
  return [
    '',
    `diverged at ${timeOf(at)} (${after(at, began)}, line ${line})${pod === undefined ? '' : `: ${pod}`}`,
    `  then: ${then}`,
    `  now:  ${now}`,
    ...differences.slice(0, SHOWN).flatMap(differenceLines),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(before.length > 0 ? ['what led to it:'] : []),
    ...before.map((one) => `  ${after(one.at, began)} line ${one.line}: ${one.text}`),
  ];
}

function differenceLines({ path, then, now }: Difference): readonly string[] {
  return [`  ${path}`, `    - ${valueText(then)}`, `    + ${valueText(now)}`];
}

function valueText(value: unknown): string {
  return value === undefined ? '(nothing)' : JSON.stringify(value);
}

function after(at: number, began: number): string {
  return `+${((at - began) / 1_000).toFixed(3)} s`;
}

function timeOf(at: number): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}
