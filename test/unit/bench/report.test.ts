import { describe, expect, test } from 'vitest';
import { joinReports, printReport, type Report } from '../../../bench/report.ts';
import type { RuntimeResult } from '../../../bench/sample.ts';

const WHERE: Omit<Report, 'runtimes'> = {
  at: '2026-11-30T01:30:00.000Z',
  commit: 'abc1234',
  node: 'v20.19.2',
  machine: '2 × Some CPU, 8 GiB, Linux 6.1',
  load: 0.25,
};

function idle(runtime: string, pods: number): RuntimeResult {
  const samples = [{ part: 'idle', agent: 'rxlet', pods, values: { calls_per_minute: 36 } }] as const;
  return { runtime, version: `containerd ${runtime}`, samples };
}

describe('joinReports', () => {
  test('puts together what several runs have measured of one runtime', () => {
    const joined = joinReports([
      { ...WHERE, runtimes: [idle('1.6', 0), idle('2', 0)] },
      { ...WHERE, at: '2026-11-30T02:00:00.000Z', runtimes: [idle('2', 12)] },
    ]);

    expect(joined.at).toBe(WHERE.at);
    expect(joined.runtimes.map(({ runtime, samples }) => [runtime, samples.map(({ pods }) => pods)])).toEqual([
      ['1.6', [0]],
      ['2', [0, 12]],
    ]);
  });
});

describe('printReport', () => {
  test('tells what was measured where and when, and what failed', () => {
    const failed = { part: 'story', agent: 'kubelet', pods: 60, values: {}, error: 'waited in vain' } as const;
    const text = printReport(
      { ...WHERE, runtimes: [idle('2', 0), { runtime: '1.6', version: 'containerd 1.6', samples: [failed] }] },
      'markdown',
    );

    expect(text).toContain(
      'rxlet abc1234 on Node v20.19.2, 2026-11-30 01:30 UTC. 2 × Some CPU, 8 GiB, Linux 6.1; load 0.3 at the start.',
    );
    expect(text).toContain('| CRI calls | 36.0/min |');
    expect(text).toContain('FAILED: containerd 1.6, kubelet, story with 60 pods: waited in vain');
  });
});
