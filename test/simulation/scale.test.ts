import { setImmediate as nextTask } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { manifest, manyPods, type Counts, type ManyPods } from '../scale/many-pods.ts';

const CONTAINERS = 3;
const MINUTE = 60_000;

/** What happens because of `act`, and until all is quiet again. */
function costs(node: ManyPods, act: () => void): Counts {
  const before = node.counts();
  act();
  node.pass(20_000);
  const { calls, relists, pages, statuses } = node.counts();
  return {
    calls: calls - before.calls,
    relists: relists - before.relists,
    pages: pages - before.pages,
    statuses: statuses - before.statuses,
  };
}

function nodeWith(pods: number): ManyPods {
  const node = manyPods({ counting: true });
  node.want(Array.from({ length: pods }, (_, number) => manifest(number)));
  node.start();
  node.until(pods * CONTAINERS);
  node.pass(2 * MINUTE);
  return node;
}

describe('a node with many pods', () => {
  it('does for a container that dies what it does on a node with few', () => {
    const [few, many] = [5, 60].map((pods) => {
      const node = nodeWith(pods);
      const quiet = costs(node, () => undefined);
      const busy = costs(node, () => {
        node.kill(node.world.running()[0]?.id ?? '');
      });
      return { calls: busy.calls - quiet.calls, statuses: busy.statuses - quiet.statuses };
    });
    expect(few?.statuses).toBeGreaterThan(0);
    expect(many?.statuses).toBe(few?.statuses);
    // Relists and looks at the runtime fall now into one span, now into the other.
    expect(Math.abs((many?.calls ?? 0) - (few?.calls ?? 0))).toBeLessThan(20);
  });

  it('asks the runtime nothing for pods at rest but what it asks for one', () => {
    const [few, many] = [5, 60].map((pods) => costs(nodeWith(pods), () => undefined));
    expect(many?.calls).toBe(few?.calls);
    expect(many?.statuses).toBe(0);
  });

  it('is as small as before when hundreds of pods have come and gone', { timeout: 120_000 }, () => {
    const pods = 40;
    const node = nodeWith(pods);
    let life = 0;
    function churn(rounds: number): void {
      for (let round = 0; round < rounds; round++) {
        life += 1;
        node.want(Array.from({ length: pods }, (_, number) => manifest(number, life)));
        node.until(pods * CONTAINERS);
      }
      node.pass(2 * MINUTE);
    }
    churn(4); // what is kept of the past at most is kept by then
    const before = heap();
    churn(10);
    expect(heap()).toBeLessThan(before * 1.2);
  });

  it('holds nothing of pods that have come and gone', { timeout: 120_000 }, async () => {
    const pods = 20;
    const node = manyPods();
    function round(life: number): readonly WeakRef<object>[] {
      const wanted = Array.from({ length: pods }, (_, number) => manifest(number, life));
      node.want(wanted);
      if (life === 0) node.start();
      node.until(pods * CONTAINERS);
      node.pass(MINUTE);
      return wanted.map(({ spec }) => new WeakRef(spec));
    }
    const first = round(0);
    for (let life = 1; life < 4; life++) round(life);
    await nextTask(); // until then, nothing goes that a WeakRef was made of
    collect();
    expect(first.filter((spec) => spec.deref() !== undefined)).toHaveLength(0);
  });
});

function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
