import { describe, expect, it } from 'vitest';
import type { PodSights } from '../../../../src/model/workloads/pod-sight.ts';
import { rollOut, type Slot } from '../../../../src/model/workloads/roll-out.ts';
import { aWorkload, running } from './a-workload.ts';

const OLD = 'busybox:1.35';
const NEW = 'busybox:1.36';

/** As `0 old, 1 new`. */
const told = (slots: readonly Slot[]): string =>
  slots.map(({ index, pod }) => `${index} ${pod.spec.containers[0]?.image === NEW ? 'new' : 'old'}`).join(', ');

const ready = (slots: readonly Slot[]): PodSights => new Map(slots.map(({ pod }) => running(pod, 0)));
const up = (slots: readonly Slot[]): PodSights => new Map(slots.map(({ pod }) => running(pod)));

function deployment(image: string, spec = 'replicas: 2', more = {}): ReturnType<typeof aWorkload<'Deployment'>> {
  return aWorkload('Deployment', { spec, image, ...more });
}

/** Steps until nothing changes, every pod ready after each step; tells every state. */
function wholeWay(from: readonly Slot[], workload: ReturnType<typeof deployment>): readonly string[] {
  const states: string[] = [];
  let slots = from;
  for (let n = 0; n < 20; n += 1) {
    const next = rollOut(workload, slots, ready(slots), 1_000).slots;
    if (told(next) === told(slots)) return states;
    states.push(told(next));
    slots = next;
  }
  throw new Error(`no end: ${states.join(' | ')}`);
}

describe('rollOut', () => {
  it('wants one pod per replica, with stable names, UIDs and labels', () => {
    const { slots } = rollOut(deployment(OLD), [], new Map(), 0);
    expect(slots.map(({ pod }) => pod.metadata.name)).toEqual(['web-0-n1', 'web-1-n1']);
    expect(slots[0]?.pod.metadata).toMatchObject({
      labels: { app: 'web', 'pod-template-hash': slots[0]?.hash },
      annotations: { 'rxlet.dev/owner': 'Deployment/default/web' },
    });
    expect(rollOut(deployment(OLD), [], new Map(), 9).slots).toEqual(slots);
    expect(rollOut(deployment(OLD), slots, up(slots), 0).slots).toEqual(slots);
  });

  it('replaces one after the other behind a stand-in (the diagram of its doc comment)', () => {
    const { slots } = rollOut(deployment(OLD), [], new Map(), 0);
    expect(wholeWay(slots, deployment(NEW))).toEqual([
      '0 old, 1 old, 2 new',
      '0 new, 1 old, 2 new',
      '0 new, 1 new, 2 new',
      '0 new, 1 new',
    ]);
  });

  it('waits for a stand-in that does not get ready, and takes nothing away for it', () => {
    const { slots } = rollOut(deployment(OLD), [], new Map(), 0);
    const next = rollOut(deployment(NEW), slots, ready(slots), 0).slots;
    const sights = new Map([...ready(slots), ...up(next.slice(2))]);
    expect(told(rollOut(deployment(NEW), next, sights, 0).slots)).toBe('0 old, 1 old, 2 new');
  });

  it('replaces at once what is not available anyway', () => {
    const { slots } = rollOut(deployment(OLD), [], new Map(), 0);
    expect(told(rollOut(deployment(NEW), slots, up(slots), 0).slots)).toBe('0 new, 1 new, 2 new');
  });

  it('replaces nothing of which it is not known yet how it is', () => {
    const { slots } = rollOut(deployment(OLD), [], new Map(), 0);
    expect(told(rollOut(deployment(NEW), slots, new Map(), 0).slots)).toBe('0 old, 1 old, 2 new');
  });

  it.each([
    [
      'takes stand-ins by a share of the replicas that is rounded up',
      'maxSurge: 25%, maxUnavailable: 0',
      '0 old, 1 old, 2 old, 3 new',
    ],
    [
      'takes nothing away by a share of the replicas that is rounded down',
      'maxSurge: 1, maxUnavailable: 33%',
      '0 old, 1 old, 2 old, 3 new',
    ],
    [
      'takes one away at a time where neither share comes to a pod',
      'maxSurge: 0, maxUnavailable: 33%',
      '0 new, 1 old, 2 old',
    ],
    ['takes as many away as maxUnavailable says', 'maxSurge: 0, maxUnavailable: 2', '0 new, 1 new, 2 old'],
    [
      'takes stand-ins and lets pods go at once where both are allowed',
      'maxSurge: 1, maxUnavailable: 1',
      '0 new, 1 old, 2 old, 3 new',
    ],
  ])('%s', (_rule, amounts, then) => {
    const three = `replicas: 3\n  strategy: {rollingUpdate: {${amounts}}}`;
    const { slots } = rollOut(deployment(OLD, three), [], new Map(), 0);
    expect(told(rollOut(deployment(NEW, three), slots, ready(slots), 0).slots)).toBe(then);
  });

  it('lets the old one go first where the pods have ports on the network of the node', () => {
    const pod = { pod: 'hostNetwork: true, ', ports: ', ports: [{containerPort: 80}]' };
    const { slots } = rollOut(deployment(OLD, 'replicas: 1', pod), [], new Map(), 0);
    expect(wholeWay(slots, deployment(NEW, 'replicas: 1', pod))).toEqual(['0 new']);
  });

  it.each([
    [
      'lets the old one go first where an unavailable one is allowed and no stand-in',
      'strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}',
      '',
    ],
    [
      'lets the old one go first where the pods want ports of the node',
      'minReadySeconds: 0',
      ', ports: [{containerPort: 80, hostPort: 80}]',
    ],
  ])('%s', (_rule, spec, ports) => {
    const two = `replicas: 2\n  ${spec}`;
    const { slots } = rollOut(deployment(OLD, two, { ports }), [], new Map(), 0);
    expect(wholeWay(slots, deployment(NEW, two, { ports }))).toEqual(['0 new, 1 old', '0 new, 1 new']);
  });

  it('lets all old ones end before the first new one with Recreate', () => {
    const spec = 'replicas: 2\n  strategy: {type: Recreate}';
    const { slots } = rollOut(deployment(OLD, spec), [], new Map(), 0);
    expect(rollOut(deployment(NEW, spec), slots, ready(slots), 0).slots).toEqual([]);
    expect(rollOut(deployment(NEW, spec), [], ready(slots.slice(1)), 0).slots).toEqual([]);
    expect(told(rollOut(deployment(NEW, spec), [], new Map(), 0).slots)).toBe('0 new, 1 new');
  });

  it('waits for minReadySeconds, and says until when', () => {
    const spec = 'replicas: 1\n  minReadySeconds: 5';
    const { slots } = rollOut(deployment(OLD, spec), [], new Map(), 0);
    const next = rollOut(deployment(NEW, spec), slots, ready(slots), 60_000).slots;
    const sights = new Map([...ready(slots), ...next.slice(1).map(({ pod }) => running(pod, 60_000))]);
    const waiting = rollOut(deployment(NEW, spec), next, sights, 61_000);
    expect([told(waiting.slots), waiting.wakeAt]).toEqual(['0 old, 1 new', 65_000]);
    expect(told(rollOut(deployment(NEW, spec), next, sights, 65_000).slots)).toBe('0 new, 1 new');
  });

  it('scales down from the highest number, and up again under the same names', () => {
    const { slots } = rollOut(deployment(OLD, 'replicas: 3'), [], new Map(), 0);
    const one = rollOut(deployment(OLD, 'replicas: 1'), slots, ready(slots), 0).slots;
    expect(told(one)).toBe('0 old');
    expect(rollOut(deployment(OLD, 'replicas: 3'), one, ready(one), 0).slots).toEqual(slots);
    expect(rollOut(deployment(OLD, 'replicas: 0'), one, ready(one), 0).slots).toEqual([]);
  });

  it('goes straight to the newest version when it changes on the way', () => {
    const { slots } = rollOut(deployment(OLD), [], new Map(), 0);
    const half = rollOut(deployment(NEW), slots, ready(slots), 0).slots;
    expect(wholeWay(half, deployment(OLD))).toEqual(['0 old, 1 old']);
  });

  it('runs one pod for a DaemonSet, under its own name', () => {
    const { slots } = rollOut(aWorkload('DaemonSet'), [], new Map(), 0);
    expect(slots.map(({ pod }) => pod.metadata.name)).toEqual(['web-n1']);
    const next = rollOut(aWorkload('DaemonSet', { image: NEW }), slots, ready(slots), 0).slots;
    expect(told(next)).toBe('0 new');
  });
});
