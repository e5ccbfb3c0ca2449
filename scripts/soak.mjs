// Lives through random worlds: npm run soak -- [--worlds N] [--seed S]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
});
for (const [flag, value] of Object.entries(values)) {
  if (!/^[1-9]\d*$/.test(value)) {
    console.error(`--${flag} must be a whole number above 0, not ${value}`);
    process.exit(2);
  }
}
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'simulation', 'test/simulation/worlds/worlds.test.ts'],
  { stdio: 'inherit', env: { ...process.env, RXLET_WORLDS: values.worlds, RXLET_WORLD_SEED: values.seed } },
);
process.exit(status ?? 1);
