import { describe, expect, it } from 'vitest';
import type { PodChange } from '../../../src/model/desired.ts';
import type { Pod, PodUid } from '../../../src/model/pod.ts';
import { holdBack, initialHold, obey, prune, type Hold } from '../../../src/sources/hold-back.ts';

const POD: Pod = {
  metadata: { uid: 'u1' as PodUid, name: 'web', namespace: 'default', labels: {}, annotations: {} },
  spec: { containers: [{ name: 'c', image: 'web:1' }] },
};
const STOPPED: Hold = holdBack(
  initialHold({ version: 1, stopped: [{ namespace: 'default', name: 'web', uid: POD.metadata.uid }] }),
  [change('add')],
).hold;
const RUNNING: Hold = holdBack(initialHold(), [change('add')]).hold;

function change(op: PodChange['op']): PodChange {
  return { op, source: 'file', pod: POD };
}

describe('holdBack', () => {
  it.each([
    ['add', [], true],
    ['reconcile', [], true],
    ['update', ['add'], false],
    ['remove', [], false],
    ['delete', [], false],
  ] as const)('makes of %s of a stopped pod %j; stopped after it: %s', (op, told, isStopped) => {
    const { hold, changes } = holdBack(STOPPED, [change(op)]);
    expect(changes.map((one) => one.op)).toEqual(told);
    expect(hold.stopped.size > 0).toBe(isStopped);
  });

  it.each(['add', 'reconcile', 'update', 'remove', 'delete'] as const)('tells on %s of any other pod', (op) => {
    expect(holdBack(RUNNING, [change(op)]).changes).toEqual([change(op)]);
  });
});

describe('obey', () => {
  const web = { namespace: 'default', name: 'web' };

  it.each([
    ['stop', RUNNING, 'done', ['remove']],
    ['stop', STOPPED, 'nothingToDo', []],
    ['start', RUNNING, 'nothingToDo', []],
    ['start', STOPPED, 'done', ['add']],
    ['restart', RUNNING, 'done', ['remove', 'add']],
    ['restart', STOPPED, 'done', ['add']],
  ] as const)('%s: case %#', (verb, hold, kind, ops) => {
    const { reply, changes } = obey(hold, { verb, ...web });
    expect(reply).toEqual({ kind });
    expect(changes.map(({ op }) => op)).toEqual(ops);
  });

  it('knows no pod of another namespace', () => {
    expect(obey(RUNNING, { verb: 'stop', name: 'web', namespace: 'data' }).reply).toEqual({ kind: 'unknown' });
  });
});

describe('prune', () => {
  it('keeps what is still wanted, and is the same where nothing is to be forgotten', () => {
    expect(prune(STOPPED).stopped).toBe(STOPPED.stopped);
    expect(prune({ ...STOPPED, wanted: new Map() }).stopped.size).toBe(0);
  });
});
