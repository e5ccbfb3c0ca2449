import { describe, expect, it } from 'vitest';
import { renderTrace } from '../../../../src/cli/commands/render-trace.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { TraceEvent, TraceFact, TraceGap } from '../../../../src/streams/trace/trace-event.ts';

const pod = { uid: 'u' as PodUid, name: 'web-n1', namespace: 'default' };
const found = { liveness: 'success', startup: 'success', readiness: 'failure', started: true, ready: false } as const;

function lines(fact: TraceFact | TraceGap, columns = 80, colour = false): readonly string[] {
  const event: TraceEvent = { seq: 1, at: Date.UTC(2026, 0, 31, 12, 5, 7, 42), ...fact };
  return renderTrace(event, { interactive: false, colour, columns, rows: 24 });
}

describe('renderTrace', () => {
  it.each<readonly [TraceFact | TraceGap, string]>([
    [{ kind: 'change', pod, op: 'update', source: 'file', why: 'by hand' }, 'change    web-n1 update by file: by hand'],
    [{ kind: 'hint', pod: { ...pod, name: '' } }, 'hint      u'],
    [{ kind: 'sighting', pod, containers: ['a running', 'b exited'] }, 'sighting  web-n1 a running, b exited'],
    [{ kind: 'sighting', pod, containers: [] }, 'sighting  web-n1 no containers'],
    [{ kind: 'object', object: 'Secret/default/db' }, 'object    Secret/default/db'],
    [{ kind: 'relist', took: 3.14, failed: false }, 'relist    3.1 ms'],
    [{ kind: 'relist', took: 30, failed: true }, 'relist    failed after 30 ms'],
    [{ kind: 'snapshot', pods: 1 }, 'snapshot  1 pod'],
    [
      { kind: 'probe', pod, container: 'a', probe: 'liveness', result: 'failed', took: 12 },
      'probe     web-n1 liveness of a: failed, 12 ms',
    ],
    [{ kind: 'finding', pod, container: 'a', ...found }, 'finding   web-n1 a: started, not ready'],
    [{ kind: 'wake', pod }, 'wake      web-n1'],
    [{ kind: 'signal', signal: 'drain' }, 'signal    all pods are to end'],
    [{ kind: 'problem', message: 'a.yaml:1:1: bad', mended: true }, 'problem   mended: a.yaml:1:1: bad'],
    [
      { kind: 'phase', pod, from: 'new', to: 'syncing', why: 'it is wanted' },
      'phase     web-n1 new -> syncing: it is wanted',
    ],
    [{ kind: 'work', pod, work: 'cleanUp' }, 'work      web-n1 cleanUp'],
    [{ kind: 'plan', pod, steps: ['runSandbox', 'startContainer a'] }, 'plan      web-n1 runSandbox, startContainer a'],
    [{ kind: 'begin', pod, work: 'sync' }, 'begin     web-n1 sync'],
    [
      { kind: 'call', call: 'pull_image', took: 1_234, outcome: 'failed', image: 'x:1', error: 'no' },
      'call      pull_image x:1, failed after 1234 ms: no',
    ],
    [
      { kind: 'call', call: 'run_podsandbox', took: 5, outcome: 'cut', pod },
      'call      web-n1 run_podsandbox, cut short after 5 ms',
    ],
    [
      { kind: 'note', pod, level: 'Normal', reason: 'Started', message: 'yes', container: 'a' },
      'note      web-n1 Started {a}: yes',
    ],
    [
      { kind: 'outcome', pod, work: 'sync', outcome: 'synced', took: 9, next: 500, waiting: ['a CrashLoopBackOff'] },
      'outcome   web-n1 sync synced after 9 ms, next in 0.5 s, waits: a CrashLoopBackOff',
    ],
    [{ kind: 'gap', lost: 7 }, 'gap       7 events went by unread'],
  ])('says %o in a line', (fact, expected) => {
    expect(lines(fact, 200)).toEqual([`12:05:07.042  ${expected}`]);
  });

  it('goes on below where a line is too long, in its column', () => {
    const message = 'a message that does not fit beside all of this';
    expect(lines({ kind: 'note', pod, level: 'Warning', reason: 'Failed', message }, 60)).toEqual([
      '12:05:07.042  note      web-n1 Failed: a message that does',
      '                        not fit beside all of this',
    ]);
  });

  it('paints what went wrong, on a terminal only', () => {
    const fact = { kind: 'relist', took: 1, failed: true } as const;
    expect(lines(fact, 80, true)).toEqual(['\u001b[33m12:05:07.042  relist    failed after 1 ms\u001b[0m']);
    expect(lines(fact)).toEqual(['12:05:07.042  relist    failed after 1 ms']);
  });
});
