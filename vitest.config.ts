import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** One project per kind of test; `docs/architecture.md` says what each is for. */
const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      { test: { name: 'marbles', include: ['test/marbles/**/*.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'edges', include: ['test/edges/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'simulation', include: ['test/simulation/**/*.test.ts'], testTimeout: 300_000 } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});

export default config;
