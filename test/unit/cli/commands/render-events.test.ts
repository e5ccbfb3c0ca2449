import { describe, expect, it } from 'vitest';
import { renderEvents } from '../../../../src/cli/commands/render-events.ts';
import type { Terminal } from '../../../../src/cli/terminal.ts';
import type { PodUid } from '../../../../src/model/pod.ts';
import type { PodEvent } from '../../../../src/streams/events/event-log.ts';

const PAPER: Terminal = { interactive: false, colour: false, columns: 80, rows: 24 };
const NOON = Date.UTC(2026, 0, 31, 12);

const STARTED: PodEvent = {
  of: { uid: 'u1' as PodUid, name: 'web-n1', namespace: 'default' },
  type: 'Normal',
  reason: 'Started',
  message: 'Container started',
  fieldPath: 'spec.containers{httpd}',
  count: 1,
  firstAt: NOON - 60_000,
  lastAt: NOON - 60_000,
};
const FAILED: PodEvent = {
  of: { uid: 'u2' as PodUid, name: 'db-n1', namespace: 'data' },
  type: 'Warning',
  reason: 'FailedCreatePodSandBox',
  message:
    'Failed to create pod sandbox: rpc error: code = Unknown desc =\n  the network plugin has no address left to give',
  count: 7,
  firstAt: NOON - 3_600_000,
  lastAt: NOON - 5_000,
};

const NODE_EVENT: PodEvent = {
  ...FAILED,
  of: { kind: 'Node', uid: 'n1', name: 'n1', namespace: '' },
  reason: 'FreeDiskSpaceFailed',
  message: 'the disk is full',
};

describe('renderEvents', () => {
  it('names the node where an event is about that', () => {
    const [, line] = renderEvents([NODE_EVENT], NOON, { ...PAPER, columns: 200 }, { withPod: true });
    expect(line).toMatch(/FreeDiskSpaceFailed {2}node\/n1 {2}the disk is full$/);
  });

  it('keeps within 80 columns, telling below what does not fit beside', () => {
    const lines = renderEvents([STARTED, FAILED], NOON, PAPER, { withPod: true });
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(`\n${lines.join('\n')}\n`).toMatchInlineSnapshot(`
      "
      AGE               TYPE     REASON                  POD            MESSAGE
      60s               Normal   Started                 web-n1{httpd}
        Container started
      5s (x7 over 60m)  Warning  FailedCreatePodSandBox  data/db-n1
        Failed to create pod sandbox: rpc error: code = Unknown desc = the network
        plugin has no address left to give
      "
    `);
  });

  it('leaves everything on one line where that is wanted', () => {
    const lines = renderEvents([STARTED, FAILED], NOON, PAPER, { withPod: true, wide: true });
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/no address left to give$/);
  });

  it('paints warnings where colours are wanted, and nothing else', () => {
    const [started, failed] = renderEvents([STARTED, FAILED], NOON, { ...PAPER, colour: true }, { withHead: false });
    expect(started).not.toContain('\u001b');
    expect(failed).toMatch(/^\u001b\[33m.*\u001b\[0m$/);
  });
});
