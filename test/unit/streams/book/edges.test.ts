import { describe, expect, it } from 'vitest';
import { fullName, type PodStatus, type PodUid } from '../../../../src/model/pod.ts';
import {
  toEnded,
  toFinished,
  toGone,
  toKept,
  toPreparing,
  toRefused,
  toReplaced,
  toSyncing,
  toTerminating,
  toWaiting,
} from '../../../../src/streams/book/edges.ts';
import type { Refused, Syncing, Terminating, Waiting } from '../../../../src/streams/book/pod-book.ts';
import { pod } from '../../../marbles/fakes.ts';

const wanted = pod();
const { uid, name, namespace } = wanted.metadata;
const known = { uid, of: { uid, name, namespace }, name: fullName(name, namespace), grace: 30, why: '' };
const begun = { ...known, waiting: new Map(), probes: new Map() };
const status: PodStatus = { phase: 'Failed', reason: 'OutOfcpu' };
const refusal = { reason: 'OutOfcpu', message: 'no cpu is left' };

const waiting: Waiting = { ...known, phase: 'waiting', pod: wanted };
const refused: Refused = { ...known, phase: 'refused', pod: wanted, refusal, status };
const syncing: Syncing & { readonly pod: typeof wanted } = { ...begun, phase: 'syncing', pod: wanted };
const terminating: Terminating = { ...begun, phase: 'terminating', pod: wanted, again: wanted };

describe('the edges of the life of a pod', () => {
  it.each([
    ['a refusal is over once the pod is taken', toSyncing(refused, 'it is wanted'), ['refusal', 'status']],
    ['a refusal is over once the pod is prepared', toPreparing(refused, 'it may come'), ['refusal', 'status']],
    ['what was in the way of a pod that waits is over when it is not', toWaiting({ ...waiting, refusal }), ['refusal']],
    ['a failure to prepare is none of a pod that is refused', toRefused(waiting, refusal), ['error']],
    ['a failure of the last phase is none of the next', toFinished({ ...syncing, error: 'no' }), ['error']],
    ['the successor of a pod goes when the pod is wanted after all', toKept(heir(), wanted, ''), ['successor']],
    [
      'a pod of which nothing runs makes way for no one any more',
      toEnded(toTerminating(heir(), TOLD), ''),
      ['successor'],
    ],
    ['a pod that is not to come back has nothing to come back as', toGone(terminating), ['again']],
  ])('%s', (_rule, entry, without) => {
    for (const key of without) expect(entry).not.toHaveProperty(key);
  });

  it.each([
    ['a grace that is longer than the pod has is not granted', 60, 30],
    ['a shorter grace is', 5, 5],
    ['without a grace, the pod keeps its own', undefined, 30],
  ])('%s', (_rule, grace, then) => {
    expect(toTerminating(syncing, { ...TOLD, grace }).grace).toBe(then);
  });

  it('keeps in mind who is to come back while the end goes on', () => {
    expect(toEnded(toTerminating(terminating, { ...TOLD, grace: 1 }), 'all ended')).toMatchObject({ again: wanted });
  });
});

const TOLD = { why: 'its deletion was asked for' };

function heir(): Syncing {
  return toReplaced(syncing, 'other' as PodUid);
}
