import { describe, expect, it } from 'vitest';
import { folder, live, pod } from './harness.ts';

describe('what an agent measures', () => {
  it('tells the whole life of a pod: its start, its work, its end', () => {
    live(
      {},
      ({ agent, at, measured }) => {
        agent(folder([0, [pod('web', { grace: 1 })]], [20_000, []]), 0, 60_000);
        at(19_000, () => {
          const starts = measured.filter(({ kind }) => kind === 'podStarted');
          expect(starts).toHaveLength(1);
          expect(starts[0]?.took).toBeGreaterThan(0);
          expect(starts[0]?.took).toBeLessThan(5_000);
        });
        at(59_000, () => {
          const works = measured.flatMap((each) => (each.kind === 'work' ? [each.operation] : []));
          expect(works[0]).toBe('create');
          expect(works.filter((operation) => operation === 'create')).toHaveLength(1);
          expect(works).toContain('kill');
          expect(works.at(-1)).toBe('terminated');
        });
      },
      () => undefined,
    );
  });

  it('does not take a pod that ran before for one that starts', () => {
    live(
      {},
      ({ agent, at, measured }) => {
        agent(folder([0, [pod('web')]]), 0, 20_000);
        agent(folder([0, [pod('web')]]), 20_000, 60_000);
        at(59_000, () => {
          expect(measured.filter(({ kind }) => kind === 'podStarted')).toHaveLength(1);
        });
      },
      () => undefined,
    );
  });

  it('tells every relist, one in twenty seconds while the runtime is listened to', () => {
    live(
      {},
      ({ agent, at, measured }) => {
        agent(folder([0, []]), 0, 120_500);
        at(120_000, () => {
          const relists = measured.filter((each) => each.kind === 'relist');
          const late = relists.map(({ startedAt }) => startedAt).filter((startedAt) => startedAt > 20_000);
          expect(late.length).toBeGreaterThanOrEqual(4);
          expect(late.slice(1).map((startedAt, index) => startedAt - (late[index] ?? 0))).toEqual(
            late.slice(1).map(() => 20_000),
          );
          expect(relists.every(({ failed, took }) => !failed && took < 1_000)).toBe(true);
        });
      },
      () => undefined,
    );
  });
});
