import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/model/desired.ts';
import type { TraceFact } from '../../../../src/streams/trace/trace-event.ts';
import { traceProblems } from '../../../../src/streams/trace/trace-problems.ts';

const bad: Problem = {
  source: 'file',
  origin: 'a.yaml',
  position: { line: 1, column: 2 },
  message: 'bad',
  pod: 'default/web',
};
const worse: Problem = { source: 'file', origin: 'b.yaml', message: 'worse' };

describe('traceProblems', () => {
  it('tells what is new and what is mended, and not what stays', () => {
    const facts: TraceFact[] = [];
    for (const [before, now] of [
      [[], [bad]],
      [[bad], [bad, worse]],
      [[bad, worse], [worse]],
    ] as const)
      traceProblems(before, now, (fact) => facts.push(fact));
    expect(facts).toEqual([
      { kind: 'problem', message: 'a.yaml:1:2: bad', mended: false, name: 'default/web' },
      { kind: 'problem', message: 'b.yaml: worse', mended: false },
      { kind: 'problem', message: 'a.yaml:1:2: bad', mended: true, name: 'default/web' },
    ]);
  });
});
