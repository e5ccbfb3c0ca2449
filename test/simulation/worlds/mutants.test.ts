import { afterEach, describe, expect, it, vi } from 'vitest';
import type * as ChooseImages from '../../../src/model/images/choose-images.ts';
import type * as ImageRoom from '../../../src/model/images/image-room.ts';
import type * as OomScore from '../../../src/model/oom-score.ts';
import type * as RestartPolicy from '../../../src/model/restart/restart-policy.ts';
import type * as SerializeByKey from '../../../src/operators/serialize-by-key.ts';
import type * as Observe from '../../../src/runtime/observe.ts';
import type * as PodActions from '../../../src/runtime/pod-actions.ts';
import type * as TurnPage from '../../../src/streams/book/turn-page.ts';
import { violations } from './invariants.ts';
import { liveWorld } from './live-world.ts';
import { MUTANTS, type Mutant } from './mutants.ts';

const now: { mutant: Mutant | undefined } = vi.hoisted(() => ({ mutant: undefined }));

vi.mock('../../../src/operators/serialize-by-key.ts', async (original) => {
  const real = await original<typeof SerializeByKey>();
  return {
    serializeByKey: (config: never) => {
      const lanes = 'preempts' in (config as object) ? now.mutant?.lanes : undefined;
      return lanes ? lanes(config, real.serializeByKey) : real.serializeByKey(config);
    },
  };
});
vi.mock('../../../src/runtime/pod-actions.ts', async (original) => {
  const real = await original<typeof PodActions>();
  return {
    podActions: (...parts: Parameters<typeof real.podActions>) =>
      (now.mutant?.actions ?? ((actions) => actions))(real.podActions(...parts)),
  };
});
vi.mock('../../../src/runtime/observe.ts', async (original) => {
  const { map } = await import('rxjs');
  const real = await original<typeof Observe>();
  return {
    observer: (...parts: Parameters<typeof real.observer>) => {
      const honest = real.observer(...parts);
      const { observed } = now.mutant ?? {};
      return observed
        ? {
            ...honest,
            observePod: (...asked: Parameters<typeof honest.observePod>) =>
              honest.observePod(...asked).pipe(map(observed)),
          }
        : honest;
    },
  };
});
vi.mock('../../../src/streams/book/turn-page.ts', async (original) => {
  const real = await original<typeof TurnPage>();
  return {
    turnPage: (...parts: Parameters<typeof real.turnPage>) =>
      (now.mutant?.page ?? ((page) => page))(real.turnPage(...parts)),
  };
});
vi.mock('../../../src/model/restart/restart-policy.ts', async (original) => {
  const real = await original<typeof RestartPolicy>();
  return {
    ...real,
    afterExit: (...parts: Parameters<typeof real.afterExit>) => now.mutant?.afterExit?.() ?? real.afterExit(...parts),
  };
});

vi.mock('../../../src/model/oom-score.ts', async (original) => {
  const real = await original<typeof OomScore>();
  return {
    oomScoreAdj: (...parts: Parameters<typeof real.oomScoreAdj>) =>
      now.mutant?.oomScoreAdj?.() ?? real.oomScoreAdj(...parts),
  };
});
vi.mock('../../../src/model/images/image-room.ts', async (original) => {
  const real = await original<typeof ImageRoom>();
  return {
    ...real,
    isShort: (...parts: Parameters<typeof real.isShort>) => now.mutant?.isShort?.() ?? real.isShort(...parts),
  };
});
vi.mock('../../../src/model/images/choose-images.ts', async (original) => {
  const real = await original<typeof ChooseImages>();
  return {
    ...real,
    chooseImages: (...parts: Parameters<typeof real.chooseImages>) => {
      const choice = real.chooseImages(...parts);
      return now.mutant?.chosen?.(choice, parts[0]) ?? choice;
    },
  };
});

afterEach(() => {
  now.mutant = undefined;
});

/** The agent as it is holds all that the broken one does not. */
describe('an agent that', () => {
  it.each(Object.entries(MUTANTS))('%s is found out', (_what, mutant) => {
    expect(violations(liveWorld(mutant.world))).toEqual([]);
    now.mutant = mutant;
    const told = violations(liveWorld(mutant.world, mutant.disguise));
    expect(told.map((one) => one.slice(0, mutant.by.length))).toContain(mutant.by);
  });
});
