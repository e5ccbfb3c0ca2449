import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Of tests that share nothing but pure modules: loading these once per worker takes a third of the time. */
const pure = { pool: 'threads', isolate: false } as const;

const MUTANTS = 'test/simulation/worlds/mutants.test.ts';

/** One project per kind of test; `docs/architecture.md` says what each is for. */
const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      { test: { name: 'marbles', include: ['test/marbles/**/*.test.ts'], testTimeout: 60_000, ...pure } },
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 60_000, ...pure } },
      // They mostly wait: for deadlines, for processes, for sockets.
      {
        test: {
          name: 'edges',
          include: ['test/edges/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          maxWorkers: 4,
          isolate: false,
        },
      },
      {
        test: {
          name: 'simulation',
          include: ['test/simulation/**/*.test.ts'],
          exclude: [MUTANTS],
          testTimeout: 300_000,
          isolate: false,
        },
      },
      // They put broken modules in the place of the agent's.
      { test: { name: 'mutants', include: [MUTANTS], testTimeout: 300_000 } },
      { test: { name: 'corpus', include: ['test/corpus/**/*.test.ts'], testTimeout: 600_000 } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          isolate: false,
          // Of `describe.concurrent`: each test mostly waits for pods of its own.
          maxConcurrency: 24,
        },
      },
    ],
  },
});

export default config;
